package ident

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"errors"
	"slices"
)

// Revocations are the serials of certificates that no longer count. A list with a higher number replaces one before.
type Revocations struct {
	Number  uint64   `json:"number"`
	Serials []string `json:"serials"`
}

// Has says that a certificate is revoked.
func (r *Revocations) Has(serial string) bool {
	return r != nil && slices.Contains(r.Serials, serial)
}

// signed is a list as it is published: whoever may write it there cannot make one up.
type signed struct {
	List      []byte `json:"list"`
	Signature []byte `json:"signature"`
}

// Sign is a list with the authority's signature.
func (a *Authority) Sign(r Revocations) ([]byte, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(append([]byte(signedFor), b...))
	sig, err := ecdsa.SignASN1(rand.Reader, a.key, sum[:])
	if err != nil {
		return nil, err
	}
	return json.Marshal(signed{b, sig})
}

// signedFor keeps signatures from being taken for those of something else.
const signedFor = "longterm fleet revocations\n"

// OpenRevocations reads a list that the authority signed.
func OpenRevocations(ca *x509.Certificate, b []byte) (*Revocations, error) {
	var s signed
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, err
	}
	pub, ok := ca.PublicKey.(*ecdsa.PublicKey)
	sum := sha256.Sum256(append([]byte(signedFor), s.List...))
	if !ok || !ecdsa.VerifyASN1(pub, sum[:], s.Signature) {
		return nil, errors.New("the list of revocations is not signed by the fleet's authority")
	}
	r := &Revocations{}
	return r, json.Unmarshal(s.List, r)
}
