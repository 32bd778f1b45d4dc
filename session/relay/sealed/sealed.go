// Package sealed encrypts the messages between a shared session and its readers against the relay between them. Only
// holders of the link's key can read them, and each message is accepted once, in order.
//
// Both ends start with 16 random bytes in clear. From the link's key and both values HKDF-SHA256 derives two
// AES-256-GCM keys, one per direction. A message's nonce is its number, which is not sent. A dropped, repeated, moved
// or reflected message, or one from another connection, fails to open, and so do all after it. The relay sees lengths
// and times.
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
var ErrMessage = errors.New("message rejected: changed, dropped or repeated in transit, or wrong key")

// Channel is one end of a connection. Sealing and opening are independent of each other; each is for one goroutine at
// a time.
type Channel struct {
	out, in        cipher.AEAD
	sent, received uint64
}

const info = "longterm relay 1 "

// Host returns the channel of the sharing end. Host and Page take the same salts.
func Host(key []byte, room string, page, host []byte) (*Channel, error) {
	return channel(key, room, page, host, "to page", "to host")
}

// Page returns the channel of the reading end.
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

// Open decrypts the next message in place.
func (c *Channel) Open(message []byte) ([]byte, error) {
	clear, err := c.in.Open(message[:0], nonce(c.received), message, nil)
	if err != nil {
		return nil, ErrMessage
	}
	c.received++
	return clear, nil
}
