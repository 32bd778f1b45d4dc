// Package pushtest is a browser that subscribed to Web Push, for tests: its keys, and the decryption of messages.
package pushtest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// Browser has the keys of a subscription.
type Browser struct {
	key  *ecdh.PrivateKey
	auth []byte
}

// New returns a browser with new keys.
func New(t testing.TB) *Browser {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	b := &Browser{key, make([]byte, 16)}
	_, _ = rand.Read(b.auth) // never fails
	return b
}

// Subscription returns a subscription at a push service.
func (b *Browser) Subscription(endpoint string) api.SubscribePush {
	encode := base64.RawURLEncoding.EncodeToString
	return api.SubscribePush{Endpoint: endpoint, Device: "phone", Keys: api.PushKeys{P256dh: encode(b.key.PublicKey().Bytes()), Auth: encode(b.auth)}}
}

// Decrypt reads the JSON of a message (RFC 8291, one record of RFC 8188).
func (b *Browser) Decrypt(body []byte, into any) error {
	if len(body) < 21+65+17 || body[20] != 65 || int(binary.BigEndian.Uint32(body[16:])) < len(body)-86 {
		return fmt.Errorf("no record of a message: %d bytes", len(body))
	}
	salt, public, sealed := body[:16], body[21:86], body[86:]
	from, err := ecdh.P256().NewPublicKey(public)
	if err != nil {
		return err
	}
	shared, err := b.key.ECDH(from)
	if err != nil {
		return err
	}
	derive := func(secret, salt []byte, info string, n int) []byte {
		out, deriveErr := hkdf.Key(sha256.New, secret, salt, info, n)
		err = errors.Join(err, deriveErr)
		return out
	}
	ikm := derive(shared, b.auth, "WebPush: info\x00"+string(b.key.PublicKey().Bytes())+string(public), 32)
	key, nonce := derive(ikm, salt, "Content-Encoding: aes128gcm\x00", 16), derive(ikm, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return err
	}
	plain, err := gcm.Open(nil, nonce, sealed, nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(bytes.TrimSuffix(bytes.TrimRight(plain, "\x00"), []byte{2}), into)
}
