package ident

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Code is what one needs to join a fleet.
type Code struct {
	Servers []string `json:"s"` // addresses of servers, host:port or URLs
	CA      string   `json:"f"` // fingerprint of the authority
	ID      string   `json:"i"`
	Secret  string   `json:"k"`
	Foreign bool     `json:"x,omitempty"` // the servers are not the fleet's own: it has no certificates of theirs
}

// Inbox returns the token of the inbox for the code's answer. Only holders of the code can compute it.
func (c Code) Inbox() string {
	sum := sha256.Sum256([]byte("longterm join inbox\x00" + c.ID + "\x00" + c.Secret))
	return hex.EncodeToString(sum[:inboxBytes])
}

// inboxBytes is how many bytes of a hash an inbox's token has.
const inboxBytes = 16

// IsInbox reports whether a text has the form of an inbox's token.
func IsInbox(token string) bool {
	b, err := hex.DecodeString(token)
	return err == nil && len(b) == inboxBytes
}

// codePrefix begins every join code.
const codePrefix = "ltjoin-"

// String is the code as it is handed over.
func (c Code) String() string {
	b, _ := json.Marshal(c)
	return codePrefix + base64.RawURLEncoding.EncodeToString(b)
}

// maxCode bounds a code, in bytes.
const maxCode = 4096

// ParseCode reads a join code.
func ParseCode(s string) (Code, error) {
	var c Code
	s = strings.TrimSpace(s)
	rest, ok := strings.CutPrefix(s, codePrefix)
	if !ok || len(s) > maxCode {
		return c, fmt.Errorf("it is no join code; `longterm fleet invite` prints one, which begins with %s", codePrefix)
	}
	b, err := base64.RawURLEncoding.DecodeString(rest)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	sum, bad := hex.DecodeString(c.CA)
	if err != nil || bad != nil || len(sum) != sha256.Size || len(c.Servers) == 0 || !isID(c.ID) || c.Secret == "" {
		return Code{}, errors.New("the join code is damaged: was all of it copied?")
	}
	return c, nil
}

func isID(id string) bool {
	b, err := hex.DecodeString(id)
	return err == nil && len(b) == 8
}

// Invitation is what is kept of a code: everything but the secret.
type Invitation struct {
	ID      string    `json:"id"`
	Hash    string    `json:"sha256"`
	Kind    Kind      `json:"kind"`
	Name    string    `json:"name,omitempty"` // the only name it is for; empty: any that is free
	May     []string  `json:"may,omitempty"`
	Masked  bool      `json:"masked,omitempty"`
	Expires time.Time `json:"expires"`
}

// Invite makes an invitation and its code.
func Invite(in Invitation, servers []string, ca string, foreign bool) (Invitation, Code) {
	id := make([]byte, 8)
	_, _ = rand.Read(id)
	c := Code{Servers: servers, CA: ca, ID: hex.EncodeToString(id), Secret: rand.Text(), Foreign: foreign}
	in.ID, in.Hash = c.ID, hash(c.Secret)
	return in, c
}

func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
