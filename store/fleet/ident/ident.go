// Package ident says who belongs to a fleet.
//
// A fleet has one certificate authority, made by Found. Its key stays on the machine that made it. A member is a
// certificate of it: the name, what kind of member, and what it may do on others, as words that this package does not
// read. A join code holds where the fleet is, the fingerprint of the authority, and a secret that is good once.
// A Revocations list, signed by the authority, takes certificates back.
package ident

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/store/fleet"
)

// Kind is what a member is.
type Kind string

// Kinds of members.
const (
	Host   Kind = "host"   // has sessions, and asks others for theirs
	Server Kind = "server" // relays and keeps the registry
)

// Member is what a certificate says of its owner.
type Member struct {
	Fleet  string
	Name   string
	Kind   Kind
	May    []string // what it may do on other hosts, in their words
	Masked bool     // secrets in output are masked for it
	Admin  bool     // it may take certificates back, and hands new ones out
	Serial string   // of the certificate
}

// lifetime is how long certificates count; serverLife is longer than anybody's memory of it.
const lifetime = 5 * 365 * 24 * time.Hour

// words of a certificate's organisational unit.
const (
	kindWord, mayWord  = "kind:", "may:"
	maskedWord, adminW = "masked", "admin"
)

// Authority can make certificates.
type Authority struct {
	Cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// Found makes the authority of a new fleet.
func Found(name string) (*Authority, error) {
	if err := fleet.CheckName(name); err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: name, Organization: []string{"longterm fleet"}},
		NotBefore: time.Now().Add(-clockSlack), NotAfter: time.Now().Add(4 * lifetime),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, MaxPathLenZero: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &Authority{cert, key}, err
}

// clockSlack is how far clocks of members may differ.
const clockSlack = 25 * time.Hour

func serial() *big.Int {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	b[0] &= 0x7f
	return new(big.Int).SetBytes(b)
}

// NewKey is a member's key, and the request for its certificate.
func NewKey(name string) (key *ecdsa.PrivateKey, request []byte, err error) {
	if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, nil, err
	}
	request, err = x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: name}}, key)
	return key, request, err
}

// Issue makes a member's certificate for the key of a request. What the request says besides that counts for nothing.
func (a *Authority) Issue(m Member, request []byte) (*x509.Certificate, error) {
	if err := fleet.CheckName(m.Name); err != nil {
		return nil, err
	}
	if m.Kind != Host && m.Kind != Server {
		return nil, fmt.Errorf("%q is no kind of member", m.Kind)
	}
	r, err := x509.ParseCertificateRequest(request)
	if err == nil {
		err = r.CheckSignature()
	}
	if err != nil {
		return nil, fmt.Errorf("the request for a certificate: %w", err)
	}
	units := []string{kindWord + string(m.Kind)}
	for _, w := range m.May {
		units = append(units, mayWord+w)
	}
	if m.Masked {
		units = append(units, maskedWord)
	}
	if m.Admin {
		units = append(units, adminW)
	}
	t := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: m.Name, Organization: []string{a.Cert.Subject.CommonName}, OrganizationalUnit: units},
		NotBefore: time.Now().Add(-clockSlack), NotAfter: time.Now().Add(lifetime), DNSNames: []string{DNSName(m.Kind, m.Name)},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	if m.Kind == Server {
		t.DNSNames = append(t.DNSNames, AnyServer)
	}
	der, err := x509.CreateCertificate(rand.Reader, t, a.Cert, r.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// AnyServer is a name that each server's certificate has; DNSName is a member's own.
const AnyServer = "server.fleet"

// DNSName is the name by which a member's certificate is checked.
func DNSName(k Kind, name string) string { return name + "." + string(k) + ".fleet" }

// MemberOf is what a certificate says. It has to be verified before.
func MemberOf(c *x509.Certificate) Member {
	m := Member{Name: c.Subject.CommonName, Serial: hex.EncodeToString(c.SerialNumber.Bytes())}
	if len(c.Subject.Organization) > 0 {
		m.Fleet = c.Subject.Organization[0]
	}
	for _, u := range c.Subject.OrganizationalUnit {
		switch k, isKind := strings.CutPrefix(u, kindWord); {
		case isKind:
			m.Kind = Kind(k)
		case strings.HasPrefix(u, mayWord):
			m.May = append(m.May, strings.TrimPrefix(u, mayWord))
		case u == maskedWord:
			m.Masked = true
		case u == adminW:
			m.Admin = true
		}
	}
	slices.Sort(m.May) // a certificate's units are a set
	return m
}

// Fingerprint is the SHA-256 of a certificate, hexadecimal.
func Fingerprint(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	return hex.EncodeToString(sum[:])
}

// Identity is a member with its key.
type Identity struct {
	Member
	CA   *x509.Certificate
	Cert *x509.Certificate
	Key  crypto.Signer
}

// Verify checks that the certificate is the authority's, and the key is its own.
func (i *Identity) Verify() error {
	pool := x509.NewCertPool()
	pool.AddCert(i.CA)
	if _, err := i.Cert.Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		return err
	}
	if pub, ok := i.Cert.PublicKey.(*ecdsa.PublicKey); !ok || !pub.Equal(i.Key.Public()) {
		return errors.New("the key is not that of the certificate")
	}
	return nil
}

// TLS is a configuration that shows the certificate and takes those of the fleet, of both sides.
func (i *Identity) TLS() *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(i.CA)
	return &tls.Config{
		MinVersion: tls.VersionTLS13, RootCAs: pool, ClientCAs: pool,
		Certificates: []tls.Certificate{{Certificate: [][]byte{i.Cert.Raw, i.CA.Raw}, PrivateKey: i.Key, Leaf: i.Cert}},
		ClientAuth:   tls.RequireAndVerifyClientCert,
	}
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// CertPEM is a certificate as files and answers have it.
func CertPEM(c *x509.Certificate) []byte { return encode("CERTIFICATE", c.Raw) }

// ParseCert reads one.
func ParseCert(b []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(b)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("it is no certificate in PEM")
	}
	return x509.ParseCertificate(block.Bytes)
}
