package certs

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"errors"
	"slices"
)

// Revocations lists the serials of revoked certificates. A list with a higher number replaces an earlier one.
type Revocations struct {
	Number  uint64   `json:"number"`
	Serials []string `json:"serials"`
}

// Has reports whether a certificate is revoked. A nil list revokes none.
func (r *Revocations) Has(serial string) bool {
	return r != nil && slices.Contains(r.Serials, serial)
}

// signed is a published list with its signature, which protects it from members that may write the subject.
type signed struct {
	List      []byte `json:"list"`
	Signature []byte `json:"signature"`
}

// Sign returns a list with the authority's signature, encoded.
func (a *Authority) Sign(r Revocations) ([]byte, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(append([]byte(signaturePrefix), b...))
	sig, err := ecdsa.SignASN1(rand.Reader, a.key, sum[:])
	if err != nil {
		return nil, err
	}
	return json.Marshal(signed{b, sig})
}

// signaturePrefix is a prefix of the signed bytes, so that the signature is valid for nothing else.
const signaturePrefix = "longterm fleet revocations\n"

// OpenRevocations verifies and decodes a signed list.
func OpenRevocations(ca *x509.Certificate, b []byte) (*Revocations, error) {
	var s signed
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, err
	}
	pub, ok := ca.PublicKey.(*ecdsa.PublicKey)
	sum := sha256.Sum256(append([]byte(signaturePrefix), s.List...))
	if !ok || !ecdsa.VerifyASN1(pub, sum[:], s.Signature) {
		return nil, errors.New("the list of revocations is not signed by the fleet's authority")
	}
	r := &Revocations{}
	return r, json.Unmarshal(s.List, r)
}
