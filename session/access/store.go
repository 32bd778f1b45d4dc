package access

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
	"time"

	"github.com/longterm-dev/longterm/store/atomicfile"
)

// Token is what is kept of one: everything but its secret.
type Token struct {
	Name    string    `json:"name"`          // unique; what records call whoever uses it
	Level   string    `json:"level"`         // read, change or all
	May     []string  `json:"may,omitempty"` // rights; none: what the level allows
	Session string    `json:"session,omitempty"`
	Label   string    `json:"label,omitempty"`  // key=value that its sessions have
	Agent   string    `json:"agent,omitempty"`  // label of the agent whose it is
	Page    bool      `json:"page,omitempty"`   // a login of the page
	Masked  bool      `json:"masked,omitempty"` // secrets in output are masked, whoever has it
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"` // zero: never
	Hash    string    `json:"sha256"`           // of the secret, hexadecimal
}

// Grant is what a token that was shown lets its holder do.
type Grant struct {
	Name    string
	Level   Level
	May     Rights // 0: what the level allows
	Session string // id of the one session it is for; empty: all
	Label   string // key=value that its sessions have; empty: any
	Agent   string
	Page    bool      // a login of the page
	Masked  bool      // secrets in output are masked
	Expires time.Time // zero: never
}

// Prefix begins every secret, so that programs that look for secrets know one.
const Prefix = "lt_"

// MaxTokens bounds how many there are.
const MaxTokens = 1000

// Errors of a store.
var (
	ErrUnknown = errors.New("the token is not known: it was revoked, or never made")
	ErrExpired = errors.New("the token has expired")
	ErrTaken   = errors.New("there is a token of this name")
	ErrFull    = fmt.Errorf("there are %d tokens, which is the most", MaxTokens)
)

// Store is the file of tokens. Any goroutine may use it; one process alone makes and revokes.
type Store struct {
	path string
	now  func() time.Time

	mu   sync.Mutex
	seen fs.FileInfo // of the file last read; nil: there was none
	all  []Token
	live map[*under]string // requests under way, with their token's name
}

// Open is the store of a file, which need not be there.
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
		if _, bad := ParseLevel(t.Level); err != nil || bad != nil || len(sum) != sha256.Size || t.Name == "" || names[t.Name] || !t.scoped() {
			return nil, fmt.Errorf("token %d is not in order", i+1)
		}
		names[t.Name] = true
	}
	return f.Tokens, nil
}

// scoped says that a token's rights and label can be read: one that cannot must not count as one without.
func (t *Token) scoped() bool {
	may, err := ParseRights(t.May)
	return err == nil && (may != 0) == (len(t.May) > 0) && (t.Label == "" || CheckLabel(t.Label) == nil)
}

// look reads the file if it was replaced. The caller holds mu.
func (s *Store) look() error {
	st, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		s.seen, s.all = nil, nil
		return nil
	}
	if err != nil {
		return fmt.Errorf("tokens: %w", err)
	}
	if st.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s can be read by others (mode %04o); run chmod 600 %[1]s", s.path, st.Mode().Perm())
	}
	if s.seen != nil && os.SameFile(s.seen, st) && s.seen.Size() == st.Size() && s.seen.ModTime().Equal(st.ModTime()) {
		return nil
	}
	b, err := os.ReadFile(s.path)
	if err == nil {
		s.all, err = decode(b)
	}
	if err != nil {
		s.seen, s.all = nil, nil
		return fmt.Errorf("tokens in %s: %w; remove the file, and make new ones with `longterm token new`", s.path, err)
	}
	s.seen = st
	return nil
}

// List is all tokens, the oldest first, those that have expired too.
func (s *Store) List() ([]Token, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.look(); err != nil {
		return nil, err
	}
	return slices.Clone(s.all), nil
}

// Make makes a token of everything but Created and Hash, and returns it with its secret, which is kept nowhere.
func (s *Store) Make(t Token) (Token, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.look(); err != nil {
		return Token{}, "", err
	}
	switch {
	case slices.ContainsFunc(s.all, func(o Token) bool { return o.Name == t.Name }):
		return Token{}, "", ErrTaken
	case len(s.all) >= MaxTokens:
		return Token{}, "", ErrFull
	}
	if may, err := ParseRights(t.May); err == nil && may != 0 {
		t.May, t.Level = may.Names(), may.level().String()
	}
	if _, err := ParseLevel(t.Level); err != nil || !t.scoped() {
		return Token{}, "", fmt.Errorf("a token of level %q with the rights %v for %q", t.Level, t.May, t.Label)
	}
	secret := Prefix + rand.Text()
	sum := sha256.Sum256([]byte(secret))
	t.Created, t.Hash = s.now().UTC().Truncate(time.Second), hex.EncodeToString(sum[:])
	return t, secret, s.write(append(slices.Clone(s.all), t))
}

// Revoke takes a token back, ends what is under way with it, and says whether there was one.
func (s *Store) Revoke(name string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.look(); err != nil {
		return false, err
	}
	rest := slices.DeleteFunc(slices.Clone(s.all), func(t Token) bool { return t.Name == name })
	if len(rest) == len(s.all) {
		return false, nil
	}
	if err := s.write(rest); err != nil {
		return true, err
	}
	for u, of := range s.live {
		if of == name {
			u.end(ErrUnknown)
		}
	}
	return true, nil
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
	s.all, s.seen = all, nil // read again: whoever else looks at the file sees the same
	return nil
}

// Verify says what the holder of a secret may do. All tokens are compared, in constant time each.
func (s *Store) Verify(secret string) (Grant, error) {
	sum := sha256.Sum256([]byte(secret))
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.look(); err != nil {
		return Grant{}, err
	}
	found := -1
	for i := range s.all {
		kept, _ := hex.DecodeString(s.all[i].Hash)
		if subtle.ConstantTimeCompare(sum[:], kept) == 1 {
			found = i
		}
	}
	return s.grant(found)
}

// Named is what the holder of a token of a name may do: for the user's own processes, which are let in without a
// secret and act for who showed them one.
func (s *Store) Named(name string) (Grant, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.look(); err != nil {
		return Grant{}, err
	}
	return s.grant(slices.IndexFunc(s.all, func(t Token) bool { return t.Name == name }))
}

func (s *Store) grant(i int) (Grant, error) {
	if i < 0 {
		return Grant{}, ErrUnknown
	}
	t := &s.all[i]
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
		Page: t.Page, Masked: t.Masked, Expires: t.Expires,
	}, err
}

// under is a request under way.
type under struct{ end context.CancelCauseFunc }

// During is a context that ends when the grant does: a stream outlives neither its token's revocation nor its
// expiry. done has to be called when the request is over.
func (s *Store) During(ctx context.Context, g Grant) (during context.Context, done func()) {
	during, end := context.WithCancelCause(ctx)
	u := &under{end}
	expiry := time.AfterFunc(1<<62, func() { end(ErrExpired) })
	if !g.Expires.IsZero() {
		expiry.Reset(g.Expires.Sub(s.now()))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		s.live = map[*under]string{}
	}
	s.live[u] = g.Name
	return during, func() {
		expiry.Stop()
		end(context.Canceled)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.live, u)
	}
}
