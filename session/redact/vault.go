package redact

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// KeySize is the length of a Key in bytes.
const KeySize = 32

// Key is the hash key of values. A separate file stores it: without it fingerprints are useless.
type Key [KeySize]byte

// NewKey makes one.
func NewKey() (k Key) {
	_, _ = rand.Read(k[:]) // never fails
	return k
}

// fingerprint is all that is kept of a value.
type fingerprint struct {
	Len int    `json:"len"`
	Tag uint16 `json:"tag"` // of its first MinValue bytes
	Sum []byte `json:"sum"` // of all of it
}

func (k *Key) fingerprint(value []byte) fingerprint {
	return fingerprint{Len: len(value), Tag: k.tag(value), Sum: k.sum(value)}
}

func (k *Key) tag(first []byte) uint16 {
	var b [8]byte
	copy(b[:], first[:MinValue])
	return k.mix(binary.LittleEndian.Uint64(b[:]))
}

// mix returns the tag of MinValue bytes, the first being the lowest. It runs for each byte of output and only selects
// what is hashed properly.
func (k *Key) mix(x uint64) uint16 {
	x ^= binary.LittleEndian.Uint64(k[:8])
	x *= binary.LittleEndian.Uint64(k[8:16]) | 1
	x ^= x >> 32
	x *= binary.LittleEndian.Uint64(k[16:24]) | 1
	return uint16(x >> 48)
}

func (k *Key) sum(value []byte) []byte {
	h := hmac.New(sha256.New, k[:])
	h.Write(value)
	return h.Sum(nil)[:16]
}

// maxValues bounds what a vault knows, with all forms of values. The oldest go first.
const maxValues = 16000

// Options supply a vault's current settings. nil: the defaults.
type Options struct {
	Names   func() []string // patterns of variables that hold secrets
	Formats func() bool     // tokens are masked by their form
	Changed func()          // there is something new to be kept (Bytes); it must not wait
}

// Vault is the values that are secret in a session.
type Vault struct {
	key Key
	o   Options

	mu    sync.Mutex
	known []fingerprint
	set   atomic.Pointer[Set]
}

// NewVault returns a vault with the state of an earlier one (Bytes). With an error it contains the readable part.
func NewVault(key Key, kept []byte, o Options) (*Vault, error) {
	v := &Vault{key: key, o: o}
	var err error
	if len(kept) > 0 {
		if err = json.Unmarshal(kept, &v.known); err != nil {
			v.known = nil
		}
		all := len(v.known)
		v.known = slices.DeleteFunc(v.known, func(f fingerprint) bool {
			return f.Len < MinValue || f.Len > MaxValue || len(f.Sum) != 16
		})
		if err == nil && (len(v.known) != all || len(v.known) > maxValues) {
			err = errors.New("fingerprints of secrets are damaged")
		}
		v.known = v.known[:min(len(v.known), maxValues)]
	}
	return v, err
}

// Learn takes a value. It reports whether it is new. A nil Vault learns nothing.
func (v *Vault) Learn(value string) (changed bool) {
	if v == nil || !Worth(value) || len(normal(value)) < MinValue {
		return false
	}
	if changed = v.learn(normal(value)); changed {
		for _, form := range encodings(value) {
			v.learn(normal(form))
		}
		if v.o.Changed != nil {
			v.o.Changed()
		}
	}
	return changed
}

// learn takes the bytes of one form.
func (v *Vault) learn(b []byte) (changed bool) {
	b = b[:min(len(b), MaxValue)]
	f := v.key.fingerprint(b)
	v.mu.Lock()
	defer v.mu.Unlock()
	known := slices.ContainsFunc(v.known, func(o fingerprint) bool { return o.Len == f.Len && subtle.ConstantTimeCompare(o.Sum, f.Sum) == 1 })
	if known {
		return false
	}
	v.known = append(v.known[max(0, len(v.known)+1-maxValues):], f)
	v.set.Store(nil)
	return true
}

// LearnEnv takes the values of variables that hold secrets.
func (v *Vault) LearnEnv(env iter.Seq2[string, string]) (changed bool) {
	if v == nil {
		return false
	}
	names := v.names()
	env(func(name, value string) bool {
		if names.Match(name) && v.Learn(value) {
			changed = true
		}
		return true
	})
	return changed
}

func (v *Vault) names() Names {
	if v.o.Names == nil {
		return NewNames(DefaultNames)
	}
	return NewNames(v.o.Names())
}

// Bytes returns the state to store; nil if empty.
func (v *Vault) Bytes() []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.known) == 0 {
		return nil
	}
	b, _ := json.Marshal(v.known) // numbers and bytes
	return b
}

// Set returns the current set. A nil Vault knows nothing.
func (v *Vault) Set() *Set {
	if v == nil {
		return nil
	}
	formats := v.o.Formats == nil || v.o.Formats()
	if s := v.set.Load(); s != nil && s.formats == formats {
		return s
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.makeLocked(formats)
	v.set.Store(s)
	return s
}

func (v *Vault) makeLocked(formats bool) *Set {
	s := &Set{key: v.key, formats: formats, by: map[uint16][]fingerprint{}}
	for _, f := range v.known {
		s.tags[f.Tag>>3] |= 1 << (f.Tag & 7)
		s.by[f.Tag] = append(s.by[f.Tag], f)
		s.longest = max(s.longest, f.Len)
	}
	return s
}

// normal returns a value without characters that may vary in print.
func normal(value string) []byte {
	b := make([]byte, 0, len(value))
	for i := 0; i < len(value); i++ {
		if c := value[i]; c != '\r' && c != '\n' {
			b = append(b, c)
		}
	}
	return b
}

// Pairs goes through a list of NAME=value.
func Pairs(env []string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, kv := range env {
			if name, value, ok := strings.Cut(kv, "="); ok && !yield(name, value) {
				return
			}
		}
	}
}
