// Package certs issues and verifies the identities of a fleet's members.
//
// A fleet has one certificate authority, created by NewAuthority. Its key stays on the machine that created it. A member's
// certificate holds its name, its kind, and its rights on other hosts, as words that this package does not interpret. A join
// code holds the fleet's addresses, the authority's fingerprint, and a secret for one use. A Revocations list, signed by the
// authority, revokes certificates.
package certs

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

// Kind is the role of a member.
type Kind string

// Kinds of members.
const (
	Host   Kind = "host"   // runs sessions, and accesses those of other hosts
	Server Kind = "server" // relays messages and stores the registry
)

// Member is the content of a member's certificate.
type Member struct {
	Fleet  string
	Name   string
	Kind   Kind
	May    []string // rights on other hosts, in words that this package does not interpret
	Masked bool     // secrets in output are redacted for it
	Admin  bool     // may revoke and issue certificates
	Serial string   // serial number of the certificate
}

// lifetime is the validity of members' certificates. That of the authority is four times as long.
const lifetime = 5 * 365 * 24 * time.Hour

// Words in a certificate's organisational units.
const (
	kindWord, mayWord     = "kind:", "may:"
	maskedWord, adminWord = "masked", "admin"
)

// Authority is a fleet's certificate authority with its key.
type Authority struct {
	Cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority creates the authority of a new fleet.
func NewAuthority(name string) (*Authority, error) {
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

// clockSlack is the largest difference between the clocks of members.
const clockSlack = 25 * time.Hour

// serial returns a random serial number.
func serial() *big.Int {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	b[0] &= 0x7f
	return new(big.Int).SetBytes(b)
}

// NewKey returns a new member's key and its certificate request.
func NewKey(name string) (key *ecdsa.PrivateKey, request []byte, err error) {
	if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return nil, nil, err
	}
	request, err = x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: name}}, key)
	return key, request, err
}

// Issue issues a certificate for the key of a request. It ignores everything else in the request.
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
		units = append(units, adminWord)
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

// AnyServer is a DNS name in every server's certificate; DNSName returns the name of one member.
const AnyServer = "server.fleet"

// DNSName returns the DNS name in a member's certificate, by which TLS verifies it.
func DNSName(k Kind, name string) string { return name + "." + string(k) + ".fleet" }

// MemberOf decodes a certificate. The caller must have verified it.
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
		case u == adminWord:
			m.Admin = true
		}
	}
	slices.Sort(m.May) // a certificate's units are a set
	return m
}

// Fingerprint returns the hexadecimal SHA-256 of a certificate.
func Fingerprint(c *x509.Certificate) string {
	sum := sha256.Sum256(c.Raw)
	return hex.EncodeToString(sum[:])
}

// Identity is a member's certificate with its key.
type Identity struct {
	Member
	CA   *x509.Certificate
	Cert *x509.Certificate
	Key  crypto.Signer
}

// Verify checks that the authority signed the certificate and that the key belongs to it.
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

// TLS returns a mutual TLS configuration with the member's certificate that accepts the fleet's certificates only.
func (i *Identity) TLS() *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(i.CA)
	return &tls.Config{
		MinVersion: tls.VersionTLS13, RootCAs: pool, ClientCAs: pool,
		Certificates: []tls.Certificate{{Certificate: [][]byte{i.Cert.Raw, i.CA.Raw}, PrivateKey: i.Key, Leaf: i.Cert}},
		ClientAuth:   tls.RequireAndVerifyClientCert,
	}
}

// encode returns DER data as PEM.
func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// CertPEM encodes a certificate as PEM.
func CertPEM(c *x509.Certificate) []byte { return encode("CERTIFICATE", c.Raw) }

// ParseCert decodes a certificate from PEM.
func ParseCert(b []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(b)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("it is no certificate in PEM")
	}
	return x509.ParseCertificate(block.Bytes)
}
