// Package sealed is what stands between a shared session and the relay that passes it on: messages that whoever has
// the link's key can read, and that count once, in their order.
//
// Both ends begin with 16 random bytes in clear. With the link's key and both of them HKDF-SHA256 makes two keys of
// AES-256-GCM, one a direction. A message's nonce is its number, which is not sent: one that is left out, repeated,
// put elsewhere, sent back, or taken from another connection opens no more, and neither does any after it. What
// stands between sees lengths and times.
package sealed

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
)

// Sizes, in bytes.
const (
	KeySize  = 32
	SaltSize = 16
	Overhead = 16 // of a message
)

// ErrMessage is of a message that is not the next one of its sender.
var ErrMessage = errors.New("what came is not what was sent: it was changed, left out or repeated on its way, or the key is another")

// Channel is one end of a connection. Sealing and opening are independent of each other; each is for one goroutine at
// a time.
type Channel struct {
	out, in        cipher.AEAD
	sent, received uint64
}

const info = "longterm relay 1 "

// Host is the end that shares, Page is the one that reads; both give the same salts.
func Host(key []byte, room string, page, host []byte) (*Channel, error) {
	return channel(key, room, page, host, "to page", "to host")
}

// Page is the end that reads.
func Page(key []byte, room string, page, host []byte) (*Channel, error) {
	return channel(key, room, page, host, "to host", "to page")
}

func channel(key []byte, room string, page, host []byte, out, in string) (*Channel, error) {
	if len(key) != KeySize || len(page) != SaltSize || len(host) != SaltSize {
		return nil, ErrMessage
	}
	salt := append(append([]byte(nil), page...), host...)
	var c Channel
	for direction, aead := range map[string]*cipher.AEAD{out: &c.out, in: &c.in} {
		k, err := hkdf.Key(sha256.New, key, salt, info+direction+" "+room, KeySize)
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(k)
		if err != nil {
			return nil, err
		}
		if *aead, err = cipher.NewGCM(block); err != nil {
			return nil, err
		}
	}
	return &c, nil
}

func nonce(n uint64) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, 4, 12), n)
}

// Seal appends the next message to dst.
func (c *Channel) Seal(dst, clear []byte) []byte {
	dst = c.out.Seal(dst, nonce(c.sent), clear, nil)
	c.sent++
	return dst
}

// Open is what the next message says; it stands where the message stood.
func (c *Channel) Open(message []byte) ([]byte, error) {
	clear, err := c.in.Open(message[:0], nonce(c.received), message, nil)
	if err != nil {
		return nil, ErrMessage
	}
	c.received++
	return clear, nil
}
