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

// NewKey returns a random key.
func NewKey() (k Key) {
	_, _ = rand.Read(k[:]) // never fails
	return k
}

// fingerprint is the stored form of a value.
type fingerprint struct {
	Len int    `json:"len"`
	Tag uint16 `json:"tag"` // of its first MinValue bytes
	Sum []byte `json:"sum"` // keyed hash of the value
}

// fingerprint returns the fingerprint of a value.
func (k *Key) fingerprint(value []byte) fingerprint {
	return fingerprint{Len: len(value), Tag: k.tag(value), Sum: k.hash(value)}
}

// tag returns the tag of a value's first MinValue bytes.
func (k *Key) tag(first []byte) uint16 {
	var b [8]byte
	copy(b[:], first[:MinValue])
	return k.mixTag(binary.LittleEndian.Uint64(b[:]))
}

// mixTag returns the tag of MinValue bytes, the first one lowest. It runs for each byte of output and only selects the values
// to hash.
func (k *Key) mixTag(x uint64) uint16 {
	x ^= binary.LittleEndian.Uint64(k[:8])
	x *= binary.LittleEndian.Uint64(k[8:16]) | 1
	x ^= x >> 32
	x *= binary.LittleEndian.Uint64(k[16:24]) | 1
	return uint16(x >> 48)
}

// hash returns the keyed hash of a value.
func (k *Key) hash(value []byte) []byte {
	h := hmac.New(sha256.New, k[:])
	h.Write(value)
	return h.Sum(nil)[:16]
}

// maxValues bounds the fingerprints of a vault, with all forms of values. The oldest ones are dropped first.
const maxValues = 16000

// Options supply a vault's current settings. Nil functions mean the defaults.
type Options struct {
	Names    func() []string // patterns of variables that hold secrets
	Formats  func() bool     // whether tokens are masked by their form
	OnChange func()          // called for new values, so that the owner stores Bytes; it must not block
}

// Vault contains the fingerprints of a session's secrets.
type Vault struct {
	key     Key
	options Options

	mu           sync.Mutex
	fingerprints []fingerprint
	cachedSet    atomic.Pointer[Set]
}

// NewVault returns a vault with the state of an earlier one (Bytes). With an error it contains the readable part.
func NewVault(key Key, kept []byte, o Options) (*Vault, error) {
	v := &Vault{key: key, options: o}
	var err error
	if len(kept) > 0 {
		if err = json.Unmarshal(kept, &v.fingerprints); err != nil {
			v.fingerprints = nil
		}
		all := len(v.fingerprints)
		v.fingerprints = slices.DeleteFunc(v.fingerprints, func(f fingerprint) bool {
			return f.Len < MinValue || f.Len > MaxValue || len(f.Sum) != 16
		})
		if err == nil && (len(v.fingerprints) != all || len(v.fingerprints) > maxValues) {
			err = errors.New("fingerprints of secrets are damaged")
		}
		v.fingerprints = v.fingerprints[:min(len(v.fingerprints), maxValues)]
	}
	return v, err
}

// Learn adds a value and its encoded forms. It reports whether the value is new. A nil Vault learns nothing.
func (v *Vault) Learn(value string) (changed bool) {
	if v == nil || !IsSecretValue(value) || len(withoutLineEnds(value)) < MinValue {
		return false
	}
	if changed = v.learnForm(withoutLineEnds(value)); changed {
		for _, form := range encodedForms(value) {
			v.learnForm(withoutLineEnds(form))
		}
		if v.options.OnChange != nil {
			v.options.OnChange()
		}
	}
	return changed
}

// learnForm adds the bytes of one form.
func (v *Vault) learnForm(b []byte) (changed bool) {
	b = b[:min(len(b), MaxValue)]
	f := v.key.fingerprint(b)
	v.mu.Lock()
	defer v.mu.Unlock()
	known := slices.ContainsFunc(v.fingerprints, func(o fingerprint) bool { return o.Len == f.Len && subtle.ConstantTimeCompare(o.Sum, f.Sum) == 1 })
	if known {
		return false
	}
	v.fingerprints = append(v.fingerprints[max(0, len(v.fingerprints)+1-maxValues):], f)
	v.cachedSet.Store(nil)
	return true
}

// LearnEnv learns the values of variables that hold secrets.
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

// names returns the current names of variables that hold secrets.
func (v *Vault) names() Names {
	if v.options.Names == nil {
		return NewNames(DefaultNames)
	}
	return NewNames(v.options.Names())
}

// Bytes returns the state to store; nil if empty.
func (v *Vault) Bytes() []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.fingerprints) == 0 {
		return nil
	}
	b, _ := json.Marshal(v.fingerprints) // numbers and bytes
	return b
}

// Set returns the current set, nil for a nil Vault.
func (v *Vault) Set() *Set {
	if v == nil {
		return nil
	}
	formats := v.options.Formats == nil || v.options.Formats()
	if s := v.cachedSet.Load(); s != nil && s.masksTokens == formats {
		return s
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.newSetLocked(formats)
	v.cachedSet.Store(s)
	return s
}

// newSetLocked returns a set of all fingerprints. The caller holds mu.
func (v *Vault) newSetLocked(formats bool) *Set {
	s := &Set{key: v.key, masksTokens: formats, byTag: map[uint16][]fingerprint{}}
	for _, f := range v.fingerprints {
		s.tagBits[f.Tag>>3] |= 1 << (f.Tag & 7)
		s.byTag[f.Tag] = append(s.byTag[f.Tag], f)
		s.maxLen = max(s.maxLen, f.Len)
	}
	return s
}

// withoutLineEnds returns a value without line ends, which may vary in print.
func withoutLineEnds(value string) []byte {
	b := make([]byte, 0, len(value))
	for i := 0; i < len(value); i++ {
		if c := value[i]; c != '\r' && c != '\n' {
			b = append(b, c)
		}
	}
	return b
}

// EnvPairs iterates over a list of NAME=value.
func EnvPairs(env []string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, kv := range env {
			if name, value, ok := strings.Cut(kv, "="); ok && !yield(name, value) {
				return
			}
		}
	}
}
