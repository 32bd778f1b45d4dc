package certs

import (
	"crypto/ecdsa"
	"crypto/subtle"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/store/atomicfile"
)

// Dir is the directory of one machine's part in a fleet:
//
//	ca.pem, KIND.pem, KIND.key       the authority, and this machine's certificates
//	ca.key, codes/ID, members.json   only where the fleet was made
//	revoked                          the newest signed list
//	settings.json                    where the servers are, labels, whether it is drained
type Dir string

// ErrNone is returned on a machine that is not a member of a fleet.
var ErrNone = errors.New("this machine belongs to no fleet")

// Settings holds a machine's fleet settings.
type Settings struct {
	Servers []string          `json:"servers"`
	Creds   string            `json:"creds,omitempty"`  // credentials file for servers that are not the fleet's own
	CA      string            `json:"tls_ca,omitempty"` // file of CA certificates for TLS to those servers
	Foreign bool              `json:"foreign,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	Drained bool              `json:"drained,omitempty"`
	Reach   []string          `json:"reach,omitempty"` // addresses for join codes; only on the machine that created the fleet
}

func (d Dir) path(name string) string { return filepath.Join(string(d), name) }

func (d Dir) write(name string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(d.path(name)), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(d.path(name), atomicfile.Options{Mode: 0o600}, b)
}

// read reads a file that only this user may access.
func (d Dir) read(name string) ([]byte, error) {
	st, err := os.Stat(d.path(name))
	if err != nil {
		return nil, err
	}
	if st.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others (mode %04o); run chmod 600 %[1]s", d.path(name), st.Mode().Perm())
	}
	return os.ReadFile(d.path(name))
}

// Settings reads the settings.
func (d Dir) Settings() (s Settings, err error) {
	b, err := d.read("settings.json")
	if errors.Is(err, fs.ErrNotExist) {
		return s, ErrNone
	}
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		err = fmt.Errorf("the settings of the fleet: %w; `longterm fleet leave` and join again", err)
	}
	return s, err
}

// SaveSettings writes the settings.
func (d Dir) SaveSettings(s Settings) error {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return d.write("settings.json", append(b, '\n'))
}

// Identity reads this machine's identity of a kind.
func (d Dir) Identity(k Kind) (*Identity, error) {
	i := &Identity{}
	var err error
	for name, into := range map[string]**x509.Certificate{"ca.pem": &i.CA, string(k) + ".pem": &i.Cert} {
		b, readErr := d.read(name)
		if errors.Is(readErr, fs.ErrNotExist) {
			return nil, ErrNone
		}
		if readErr == nil {
			*into, readErr = ParseCert(b)
		}
		if readErr != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", d.path(name), readErr))
		}
	}
	if err != nil {
		return nil, err
	}
	key, err := d.key(string(k) + ".key")
	if err != nil {
		return nil, err
	}
	i.Key, i.Member = key, MemberOf(i.Cert)
	if err := i.Verify(); err != nil {
		return nil, fmt.Errorf("%s: %w", d.path(string(k)+".pem"), err)
	}
	return i, nil
}

// key reads a private key.
func (d Dir) key(name string) (*ecdsa.PrivateKey, error) {
	b, err := d.read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(b)
	if block == nil {
		return nil, fmt.Errorf("%s is no key in PEM", d.path(name))
	}
	return x509.ParseECPrivateKey(block.Bytes)
}

// SaveIdentity writes an identity.
func (d Dir) SaveIdentity(i *Identity) error {
	der, err := x509.MarshalECPrivateKey(i.Key.(*ecdsa.PrivateKey))
	if err != nil {
		return err
	}
	return errors.Join(d.write(string(i.Kind)+".key", encode("EC PRIVATE KEY", der)),
		d.write(string(i.Kind)+".pem", CertPEM(i.Cert)), d.write("ca.pem", CertPEM(i.CA)))
}

// SaveAuthority writes the authority of a fleet that was created on this machine.
func (d Dir) SaveAuthority(a *Authority) error {
	der, err := x509.MarshalECPrivateKey(a.key)
	if err != nil {
		return err
	}
	return errors.Join(d.write("ca.key", encode("EC PRIVATE KEY", der)), d.write("ca.pem", CertPEM(a.Cert)))
}

// Authority loads the certificate authority. It returns ErrNone if this machine did not create the fleet.
func (d Dir) Authority() (*Authority, error) {
	key, err := d.key("ca.key")
	if err != nil {
		return nil, err
	}
	b, err := d.read("ca.pem")
	if err != nil {
		return nil, err
	}
	cert, err := ParseCert(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.path("ca.pem"), err)
	}
	return &Authority{cert, key}, nil
}

// Leave removes all fleet files from this machine, including the authority.
func (d Dir) Leave() error { return os.RemoveAll(string(d)) }

// Invite stores an invitation.
func (d Dir) Invite(in Invitation) error {
	b, err := json.Marshal(in)
	if err != nil {
		return err
	}
	return d.write("codes/"+in.ID, b)
}

// Errors of joining, sent to the joining machine.
var (
	ErrUnknownCode = errors.New("the join code is not known: it was used, has expired, or is of another fleet")
	ErrNameTaken   = errors.New("there is a host of this name in the fleet")
)

// Issued is a member in the list of the machine that created the fleet.
type Issued struct {
	Name    string    `json:"name"`
	Kind    Kind      `json:"kind"`
	May     []string  `json:"may,omitempty"`
	Masked  bool      `json:"masked,omitempty"`
	Serial  string    `json:"serial"`
	When    time.Time `json:"when"`
	Revoked time.Time `json:"revoked,omitzero"`
}

// Members returns all members ever admitted, oldest first.
func (d Dir) Members() (all []Issued, err error) {
	b, err := d.read("members.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	return all, err
}

func (d Dir) saveMembers(all []Issued) error {
	b, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return d.write("members.json", append(b, '\n'))
}

// Admit issues a certificate for a new member, after recording it. Only one process may call it.
func (d Dir) Admit(a *Authority, m Member, request []byte) (*x509.Certificate, error) {
	all, err := d.Members()
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(all, func(i Issued) bool { return i.Name == m.Name && i.Kind == m.Kind && i.Revoked.IsZero() }) {
		return nil, ErrNameTaken
	}
	cert, err := a.Issue(m, request)
	if err != nil {
		return nil, err
	}
	got := MemberOf(cert)
	all = append(all, Issued{Name: m.Name, Kind: m.Kind, May: m.May, Masked: m.Masked, Serial: got.Serial, When: time.Now().UTC().Truncate(time.Second)})
	return cert, d.saveMembers(all)
}

// Redeem admits the sender of a join code's secret and uses up the code.
func (d Dir) Redeem(a *Authority, id, secret, name string, request []byte) (*x509.Certificate, Invitation, error) {
	var in Invitation
	if !isID(id) {
		return nil, in, ErrUnknownCode
	}
	b, err := d.read("codes/" + id)
	if err != nil || json.Unmarshal(b, &in) != nil || subtle.ConstantTimeCompare([]byte(in.Hash), []byte(hash(secret))) != 1 {
		return nil, Invitation{}, ErrUnknownCode
	}
	if time.Now().After(in.Expires) {
		_ = os.Remove(d.path("codes/" + id))
		return nil, in, ErrUnknownCode
	}
	if in.Name != "" && name != in.Name {
		return nil, in, fmt.Errorf("the join code is for the name %s", in.Name)
	}
	cert, err := d.Admit(a, Member{Name: name, Kind: in.Kind, May: in.May, Masked: in.Masked}, request)
	if err != nil {
		return nil, in, err
	}
	if err := os.Remove(d.path("codes/" + id)); err != nil {
		return nil, in, fmt.Errorf("use the join code up: %w", err)
	}
	return cert, in, nil
}

// Revoke revokes a member's certificates and returns the new signed list.
func (d Dir) Revoke(a *Authority, name string) ([]byte, error) {
	all, err := d.Members()
	if err != nil {
		return nil, err
	}
	list, found := Revocations{Number: uint64(time.Now().UnixMicro())}, false
	for i := range all {
		if all[i].Name == name && all[i].Revoked.IsZero() {
			all[i].Revoked, found = time.Now().UTC().Truncate(time.Second), true
		}
		if !all[i].Revoked.IsZero() {
			list.Serials = append(list.Serials, all[i].Serial)
		}
	}
	if !found {
		return nil, fmt.Errorf("the fleet has no member %q; `longterm fleet hosts` lists them", name)
	}
	b, err := a.Sign(list)
	if err != nil {
		return nil, err
	}
	return b, errors.Join(d.saveMembers(all), d.SaveRevocations(b))
}

// SaveRevocations stores the newest list, for times without a server.
func (d Dir) SaveRevocations(b []byte) error { return d.write("revoked", b) }

// KeepRevocations stores a published list, unless a newer one is known or the authority did not sign it.
func (d Dir) KeepRevocations(ca *x509.Certificate, b []byte) error {
	list, err := OpenRevocations(ca, b)
	if err != nil {
		return err
	}
	if old, err := OpenRevocations(ca, d.SignedRevocations()); err == nil && old.Number >= list.Number {
		return nil
	}
	return d.SaveRevocations(b)
}

// SignedRevocations returns the newest known revocation list as published, or nil.
func (d Dir) SignedRevocations() []byte {
	b, err := d.read("revoked")
	if err != nil {
		return nil
	}
	return b
}

// Has reports whether this directory has a certificate of that kind.
func (d Dir) Has(k Kind) bool {
	_, err := os.Stat(d.path(strings.ToLower(string(k)) + ".pem"))
	return err == nil
}

// Hosts returns the names of all hosts that this machine has seen in the fleet.
func (d Dir) Hosts() (names []string) {
	b, err := d.read("hosts")
	if err != nil || json.Unmarshal(b, &names) != nil {
		return nil
	}
	return names
}

// SaveHosts stores the names of hosts.
func (d Dir) SaveHosts(names []string) error {
	b, err := json.Marshal(names)
	if err != nil {
		return err
	}
	return d.write("hosts", b)
}
