package certs

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

// Code is a join code: everything a machine needs to join a fleet.
type Code struct {
	Servers []string `json:"s"`           // addresses of servers, host:port or URLs
	CA      string   `json:"f"`           // fingerprint of the authority
	ID      string   `json:"i"`           // identifies the invitation
	Secret  string   `json:"k"`           // proves possession of the code; valid once
	Foreign bool     `json:"x,omitempty"` // the servers are not the fleet's own and do not use its certificates
}

// Inbox returns the token of the inbox for the code's answer. Only holders of the code can compute it.
func (c Code) Inbox() string {
	sum := sha256.Sum256([]byte("longterm join inbox\x00" + c.ID + "\x00" + c.Secret))
	return hex.EncodeToString(sum[:inboxBytes])
}

// inboxBytes is the number of hash bytes in an inbox's token.
const inboxBytes = 16

// IsInbox reports whether a text has the form of an inbox token.
func IsInbox(token string) bool {
	b, err := hex.DecodeString(token)
	return err == nil && len(b) == inboxBytes
}

// codePrefix starts every join code.
const codePrefix = "ltjoin-"

// String encodes the code for printing.
func (c Code) String() string {
	b, _ := json.Marshal(c)
	return codePrefix + base64.RawURLEncoding.EncodeToString(b)
}

// maxCode limits a code, in bytes.
const maxCode = 4096

// ParseCode reads a join code.
func ParseCode(s string) (Code, error) {
	var c Code
	s = strings.TrimSpace(s)
	rest, ok := strings.CutPrefix(s, codePrefix)
	if !ok || len(s) > maxCode {
		return c, fmt.Errorf("not a join code (they start with %s); get one with `longterm fleet invite`", codePrefix)
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

// isID reports whether id has the form of an invitation's ID.
func isID(id string) bool {
	b, err := hex.DecodeString(id)
	return err == nil && len(b) == 8
}

// Invitation is the stored part of a join code: everything but the secret.
type Invitation struct {
	ID      string    `json:"id"`
	Hash    string    `json:"sha256"` // hash of the secret
	Kind    Kind      `json:"kind"`
	Name    string    `json:"name,omitempty"` // only valid for this host name; "" for any
	May     []string  `json:"may,omitempty"`
	Masked  bool      `json:"masked,omitempty"`
	Expires time.Time `json:"expires"`
}

// Invite creates an invitation and its join code.
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
