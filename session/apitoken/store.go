package apitoken

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/longterm-dev/longterm/store/atomicfile"
)

// Token is what is kept of one: everything but its secret.
type Token struct {
	Name    string    `json:"name"`          // unique; recorded as the caller's name
	Level   string    `json:"level"`         // read, change or all
	May     []string  `json:"may,omitempty"` // rights; none: what the level allows
	Session string    `json:"session,omitempty"`
	Label   string    `json:"label,omitempty"`  // key=value that its sessions have
	Agent   string    `json:"agent,omitempty"`  // label of the agent whose it is
	Page    bool      `json:"page,omitempty"`   // a login of the page
	Masked  bool      `json:"masked,omitempty"` // secrets in output are always masked
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"` // zero: never
	Hash    string    `json:"sha256"`           // of the secret, hexadecimal
}

// Grant is what a token that was shown lets its holder do.
type Grant struct {
	Name    string
	Level   Level
	May     Rights // 0: what the level allows
	Session string // id of the only session; empty: all
	Label   string // key=value of its sessions; empty: any
	Agent   string
	Page    bool      // a login of the page
	Masked  bool      // secrets in output are masked
	Expires time.Time // zero: never

	hash    string // of the token's secret
	revoked uint64 // how many revocations there were when the token was looked up
}

// ID identifies the token of the grant. Unlike its name it is never that of a later token.
func (g Grant) ID() string { return g.hash[:min(16, len(g.hash))] }

// Prefix starts every secret, so that secret scanners recognize one.
const Prefix = "lt_"

// MaxTokens bounds how many there are.
const MaxTokens = 1000

// Errors of a store.
var (
	ErrNotFound = errors.New("the token is not known: it was revoked, or never made")
	ErrExpired  = errors.New("the token has expired")
	ErrTaken    = errors.New("there is a token of this name")
	ErrFull     = fmt.Errorf("there are %d tokens, which is the most", MaxTokens)
)

// Store is the file of tokens. Any goroutine may use it; one process alone makes and revokes.
type Store struct {
	path string
	now  func() time.Time
	// struck writes into the file; nil: WriteAt. Tests have one that fails.
	struck func(f *os.File, b []byte, off int64) (int, error)

	known atomic.Pointer[tokenFile] // the file at the last read: verification never waits

	mu   sync.Mutex      // held to read the file again or write it; before liveMu
	gone map[string]bool // hashes of revoked tokens still in the file; guarded by mu

	liveMu sync.Mutex        // guards what follows
	live   map[*under]string // requests under way, with their token's name

	revoked atomic.Uint64 // revocations so far; changed with liveMu held
}

// tokenFile is the immutable content of a token file.
type tokenFile struct {
	seen fs.FileInfo // of the file; nil: to be read again
	all  []Token
	sums [][sha256.Size]byte // of their secrets
}

// Open returns the store of a file, which may be missing.
func Open(path string) *Store { return &Store{path: path, now: time.Now} }

// file is the form of the file.
type file struct {
	Tokens []Token `json:"tokens"`
}

// decode reads a file of tokens, which may be damaged: nothing of such a one counts.
func decode(b []byte) ([]Token, error) {
	var f file
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for i := range f.Tokens {
		t := &f.Tokens[i]
		sum, err := hex.DecodeString(t.Hash)
		if _, bad := ParseLevel(t.Level); err != nil || bad != nil || len(sum) != sha256.Size || t.Name == "" || names[t.Name] || !t.isScopeValid() {
			return nil, fmt.Errorf("token %d is not in order", i+1)
		}
		names[t.Name] = true
	}
	return f.Tokens, nil
}

// isScopeValid reports whether a token's rights and label are readable: an unreadable scope must not count as none.
func (t *Token) isScopeValid() bool {
	may, err := ParseRights(t.May)
	return err == nil && (may != 0) == (len(t.May) > 0) && (t.Label == "" || CheckLabel(t.Label) == nil)
}

// load returns the file's content, and reads the file if it was replaced.
func (s *Store) load() (*tokenFile, error) {
	if k, err := s.fresh(); k != nil || err != nil {
		return k, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lookLocked()
}

// fresh returns the known content if the file is unchanged, or nil if it must be read.
func (s *Store) fresh() (*tokenFile, error) {
	k := s.known.Load() // before the file is looked at
	st, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &tokenFile{}, nil
	case err != nil:
		return nil, fmt.Errorf("tokens: %w", err)
	case st.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("%s can be read by others (mode %04o); run chmod 600 %[1]s", s.path, st.Mode().Perm())
	case k != nil && k.seen != nil && os.SameFile(k.seen, st) && k.seen.Size() == st.Size() && k.seen.ModTime().Equal(st.ModTime()):
		return k, nil
	}
	return nil, nil
}

// lookLocked is look for callers that hold mu.
func (s *Store) lookLocked() (*tokenFile, error) {
	if k, err := s.fresh(); k != nil || err != nil {
		return k, err
	}
	k, err := s.read()
	s.known.Store(k) // nil: nothing known counts
	if err != nil {
		return nil, fmt.Errorf("tokens in %s: %w; remove the file, and make new ones with `longterm token new`", s.path, err)
	}
	return k, nil
}

// read reads the file. The caller holds mu.
func (s *Store) read() (*tokenFile, error) {
	st, err := os.Stat(s.path) // before reading: a later replacement is read again
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(s.path)
	if err != nil {
		return nil, err
	}
	all, err := decode(b)
	if err != nil {
		return nil, err
	}
	all = s.dropRevoked(all)
	k := &tokenFile{seen: st, all: all, sums: make([][sha256.Size]byte, len(all))}
	for i := range all {
		if _, err := hex.Decode(k.sums[i][:], []byte(all[i].Hash)); err != nil {
			return nil, err
		}
	}
	return k, nil
}

// List returns all tokens, oldest first, expired ones included.
func (s *Store) List() ([]Token, error) {
	k, err := s.load()
	if err != nil {
		return nil, err
	}
	return slices.Clone(k.all), nil
}

// Make makes a token of everything but Created and Hash, and returns it with its secret, which is kept nowhere.
func (s *Store) Make(t Token) (Token, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, err := s.lookLocked()
	if err != nil {
		return Token{}, "", err
	}
	switch {
	case slices.ContainsFunc(k.all, func(o Token) bool { return o.Name == t.Name }):
		return Token{}, "", ErrTaken
	case len(k.all) >= MaxTokens:
		return Token{}, "", ErrFull
	}
	if may, err := ParseRights(t.May); err == nil && may != 0 {
		t.May, t.Level = may.Names(), may.level().String()
	}
	if _, err := ParseLevel(t.Level); err != nil || !t.isScopeValid() {
		return Token{}, "", fmt.Errorf("a token of level %q with the rights %v for %q", t.Level, t.May, t.Label)
	}
	secret := Prefix + rand.Text()
	sum := sha256.Sum256([]byte(secret))
	t.Created, t.Hash = s.now().UTC().Truncate(time.Second), hex.EncodeToString(sum[:])
	return t, secret, s.write(append(slices.Clone(k.all), t))
}

// Revoke revokes a token, ends its running requests, and reports whether it existed. It also takes effect on a full
// disk; a *NotKeptError reports that the file could not be changed at all.
func (s *Store) Revoke(name string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, err := s.lookLocked()
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(k.all, func(t Token) bool { return t.Name == name })
	if i < 0 {
		return false, nil
	}
	hash := k.all[i].Hash
	err = s.write(slices.Delete(slices.Clone(k.all), i, i+1))
	if err != nil && s.strike(hash) == nil {
		err = nil
	}
	if err != nil {
		if s.gone == nil {
			s.gone = map[string]bool{}
		}
		s.gone[hash], err = true, &NotKeptError{err}
	}
	s.known.Store(nil)
	s.liveMu.Lock()
	defer s.liveMu.Unlock()
	s.revoked.Add(1)
	for u, of := range s.live {
		if of == name {
			u.end(ErrNotFound)
		}
	}
	return true, err
}

// write replaces the file. The caller holds mu.
func (s *Store) write(all []Token) error {
	b, err := json.MarshalIndent(file{all}, "", " ")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(s.path, atomicfile.Options{Mode: 0o600, Sync: atomicfile.ContentAndName}, append(b, '\n')); err != nil {
		return fmt.Errorf("keep the tokens: %w", err)
	}
	s.known.Store(nil) // read again: others see the same file
	return nil
}

// Verify returns the grant of a secret. It compares all tokens, in constant time each.
func (s *Store) Verify(secret string) (Grant, error) {
	sum, revoked := sha256.Sum256([]byte(secret)), s.revoked.Load()
	k, err := s.load()
	if err != nil {
		return Grant{}, err
	}
	return s.grant(k, k.of(sum), revoked)
}

// GrantByName returns the grant of a token by name, for the user's own processes, which need no secret and act for its
// holder.
func (s *Store) GrantByName(name string) (Grant, error) {
	revoked := s.revoked.Load()
	k, err := s.load()
	if err != nil {
		return Grant{}, err
	}
	return s.grant(k, slices.IndexFunc(k.all, func(t Token) bool { return t.Name == name }), revoked)
}

// Whose returns the token name of a secret by the last read content; empty if unknown or new. Verify decides about
// access.
func (s *Store) Whose(secret string) string {
	k := s.known.Load()
	if k == nil {
		return ""
	}
	if i := k.of(sha256.Sum256([]byte(secret))); i >= 0 {
		return k.all[i].Name
	}
	return ""
}

// of returns the index of the token whose secret has a sum, or -1.
func (k *tokenFile) of(sum [sha256.Size]byte) int {
	found := -1
	for i := range k.sums {
		if subtle.ConstantTimeCompare(sum[:], k.sums[i][:]) == 1 {
			found = i
		}
	}
	return found
}

func (s *Store) grant(k *tokenFile, i int, revoked uint64) (Grant, error) {
	if i < 0 {
		return Grant{}, ErrNotFound
	}
	t := &k.all[i]
	if !t.Expires.IsZero() && !s.now().Before(t.Expires) {
		return Grant{}, ErrExpired
	}
	level, err := ParseLevel(t.Level)
	if err != nil {
		return Grant{}, err
	}
	may, err := ParseRights(t.May)
	return Grant{
		Name: t.Name, Level: level, May: may, Session: t.Session, Label: t.Label, Agent: t.Agent,
		Page: t.Page, Masked: t.Masked, Expires: t.Expires, hash: t.Hash, revoked: revoked,
	}, err
}

// under is a request under way.
type under struct{ end context.CancelCauseFunc }

// During returns a context that ends with the grant: a stream outlives neither its token's revocation nor its expiry.
// Call done at the end of the request.
func (s *Store) During(ctx context.Context, g Grant) (during context.Context, done func()) {
	during, end := context.WithCancelCause(ctx)
	u := &under{end}
	var expiry *time.Timer
	if !g.Expires.IsZero() {
		expiry = time.AfterFunc(g.Expires.Sub(s.now()), func() { end(ErrExpired) })
	}
	s.liveMu.Lock()
	defer s.liveMu.Unlock()
	if s.live == nil {
		s.live = map[*under]string{}
	}
	s.live[u] = g.Name
	if s.revoked.Load() != g.revoked { // since the lookup: the revocation did not see this request
		if now, err := s.GrantByName(g.Name); err != nil || now.hash != g.hash {
			end(ErrNotFound)
		}
	}
	return during, func() {
		if expiry != nil {
			expiry.Stop()
		}
		end(context.Canceled)
		s.liveMu.Lock()
		defer s.liveMu.Unlock()
		delete(s.live, u)
	}
}
