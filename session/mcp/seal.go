//go:build unix

package mcp

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/store/atomicfile"
)

// A request state travels to the client and back from an untrusted place. It is sealed (AES-256-GCM), bound to its
// caller and call, expires, and is accepted once.

// stateTime is how long a user may take to answer.
const stateTime = 15 * time.Minute

// maxState bounds the size of a sealed state, in bytes.
const maxState = 4 << 10

// KeySize is the size of the key of request states, in bytes.
const KeySize = 32

// LoadKey reads the key of request states from a directory, and creates one the first time.
func LoadKey(dir string) ([]byte, error) {
	path := filepath.Join(dir, "mcp.key")
	for range 2 {
		key, err := os.ReadFile(path)
		switch {
		case err == nil && len(key) == KeySize:
			return key, nil
		case err == nil:
			return nil, fmt.Errorf("%s is not a key (%d bytes); remove it, and longterm creates a new one", path, len(key))
		case !errors.Is(err, os.ErrNotExist):
			return nil, err
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		key = make([]byte, KeySize)
		_, _ = rand.Read(key) // never fails
		if err := atomicfile.Write(path, atomicfile.Options{Mode: 0o600, Shared: true}, key); err != nil {
			return nil, err
		}
	}
	return os.ReadFile(path)
}

// requestState is the content of a request state.
type requestState struct {
	Who     string    `json:"w"` // principal
	Tool    string    `json:"t"`
	Args    []byte    `json:"a"` // digest of the arguments
	Session string    `json:"s"`
	Job     string    `json:"j,omitempty"`
	Kind    string    `json:"k"`
	Asks    string    `json:"p,omitempty"` // approval
	Nonce   string    `json:"n"`
	Until   time.Time `json:"u"`
}

// sealer seals request states, and remembers the used ones.
type sealer struct {
	aead cipher.AEAD
	now  func() time.Time

	mu   sync.Mutex
	used map[string]time.Time // by nonce: when the state expires
}

// newSealer returns a sealer with a key of KeySize bytes.
func newSealer(key []byte) (*sealer, error) {
	if key == nil {
		key = make([]byte, KeySize)
		_, _ = rand.Read(key)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("the key of request states: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	return &sealer{aead: aead, now: time.Now, used: map[string]time.Time{}}, err
}

// close seals a state.
func (s *sealer) close(st *requestState) string {
	nonce := make([]byte, s.aead.NonceSize())
	_, _ = rand.Read(nonce)
	st.Nonce, st.Until = base64.RawURLEncoding.EncodeToString(nonce), s.now().Add(stateTime)
	plain, _ := json.Marshal(st) // of texts
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nonce, nonce, plain, nil))
}

// errState rejects a request state.
var errState = errors.New("the request state is not one of this server's, was used, or is over")

// open opens a state, once. It must belong to the caller and the same call.
func (s *sealer) open(text, who, tool string, args []byte) (*requestState, error) {
	if len(text) > maxState {
		return nil, errState
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(sealed) < s.aead.NonceSize() {
		return nil, errState
	}
	plain, err := s.aead.Open(nil, sealed[:s.aead.NonceSize()], sealed[s.aead.NonceSize():], nil)
	if err != nil {
		return nil, errState
	}
	var st requestState
	if json.Unmarshal(plain, &st) != nil || st.Who != who || st.Tool != tool || string(st.Args) != string(args) || s.now().After(st.Until) {
		return nil, errState
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, until := range s.used {
		if s.now().After(until) {
			delete(s.used, n)
		}
	}
	if _, ok := s.used[st.Nonce]; ok {
		return nil, errState
	}
	s.used[st.Nonce] = st.Until
	return &st, nil
}

// digestOf returns a digest of a call's arguments.
func digestOf(raw []byte) []byte {
	sum := sha256.Sum256(raw)
	return sum[:16]
}
