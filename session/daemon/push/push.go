//go:build unix

// Package push sends entries of the inbox to browsers by Web Push, also while no page is open, and accepts the answers
// of their notifications' buttons.
//
//	events ─→ Follow: open entries of the inbox ─→ per subscription: entries not sent yet ─→ encrypted message ─→ push service
//	button of a notification ─→ signed answer ─→ Redeem: login and entry, once ─→ the caller answers the entry
//
// Nothing is queued: each pass compares the inbox with what a subscription has received. So an answered entry is
// not sent, and a killed daemon loses nothing. A subscription belongs to a login (a token) and ends with
// it. A file stores the keys, the subscriptions and the used answers. Follow's goroutine makes the passes, one goroutine
// per subscription sends; other functions run on their callers' goroutines.
package push

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

const (
	// maxSubscriptions bounds the subscriptions of a daemon.
	maxSubscriptions = 64
	// maxOfLogin bounds those of one login.
	maxOfLogin = 8
	// maxFile bounds the file, in bytes.
	maxFile = 4 << 20
)

// Config describes the environment of a Set.
type Config struct {
	Path   string // of the file
	Tokens *apitoken.Store
	// List returns all entries of the inbox, also those that are done, in order.
	List func(ctx context.Context) ([]api.InboxItem, error)
	// Mask redacts secrets in a text.
	Mask func(text string) string
	// Settings returns the current settings.
	Settings func() Settings
	Log      *slog.Logger
	// Client sends messages; nil: NewClient. Tests trust their own push service by it.
	Client *http.Client
}

// Settings are the parts of the configuration that apply.
type Settings struct {
	// Delay is how long a program must wait for its answer before its question is sent.
	Delay time.Duration
	// Details adds what happened, and buttons, to the kind of an entry and its session.
	Details bool
	// Private permits push services at private addresses.
	Private bool
}

// Viewer returns the entries that a login may see, with secrets masked if it sees none.
type Viewer func(ctx context.Context, g apitoken.Grant, all []api.InboxItem) []api.InboxItem

// Set holds the subscriptions of a daemon. Any goroutine may use it.
type Set struct {
	c      Config
	client *http.Client
	wake   chan struct{} // has a token if a pass is due

	mu    sync.Mutex // guards what follows
	state *state     // nil until it is read
}

// state is the content of the file.
type state struct {
	// Key is the private key that identifies this daemon to push services (VAPID, RFC 8292), in base64url.
	Key string `json:"key"`
	// Secret signs answers.
	Secret        []byte               `json:"secret"`
	Subscriptions []*subscription      `json:"subscriptions"`
	Used          map[string]time.Time `json:"used,omitempty"` // used answers, with their expiry
}

// subscription is a browser that receives messages. Its fields are guarded by Set.mu.
type subscription struct {
	Info    api.PushSubscription `json:"info"`
	Browser api.SubscribePush    `json:"browser"`
	LoginID string               `json:"login_id,omitempty"` // of the login's token
	// Sent are the entries that need not be sent again, with the time of that.
	Sent map[string]time.Time `json:"sent,omitempty"`

	sending bool          // a goroutine sends
	fails   int           // failed attempts in a row
	retryAt time.Time     // no attempt before
	rate    *rate.Limiter // nil until the first message
}

// New returns the subscriptions that a file stores. It reads the file at first use.
func New(c Config) *Set {
	s := &Set{c: c, client: c.Client, wake: make(chan struct{}, 1)}
	if s.client == nil {
		s.client = NewClient(func() bool { return c.Settings().Private })
	}
	return s
}

// decode parses the file's content. It returns an error for keys that cannot be used.
func decode(b []byte) (*state, error) {
	if len(b) > maxFile {
		return nil, fmt.Errorf("%d bytes are too many", len(b))
	}
	v := &state{}
	if err := json.Unmarshal(b, v); err != nil {
		return nil, err
	}
	if _, err := publicKey(v.Key); err != nil || len(v.Secret) != secretSize {
		return nil, errors.New("invalid keys")
	}
	v.Subscriptions = slices.DeleteFunc(v.Subscriptions, func(sub *subscription) bool {
		return sub == nil || check(sub.Browser) != nil || sub.Info.ID != idOf(sub.Browser.Endpoint)
	})
	return v, nil
}

// secretSize is the length of the secret that signs answers, in bytes.
const secretSize = 32

// publicKey returns the public key of a private one, both in base64url.
func publicKey(private string) (string, error) {
	b, err := base64.RawURLEncoding.DecodeString(private)
	if err != nil {
		return "", err
	}
	key, err := ecdh.P256().NewPrivateKey(b)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()), nil
}

// load returns the state, which it reads from the file at first use. Without a file, and with a damaged one, it has no
// keys and no subscriptions. The caller holds mu.
func (s *Set) load() (*state, error) {
	if s.state != nil {
		return s.state, nil
	}
	b, err := os.ReadFile(s.c.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, api.Errorf(api.CodeStorage, "read the subscriptions to notifications: %v", err).WithHint("%s", api.CodeStorage.Hint())
	}
	v := &state{}
	if err == nil {
		if v, err = decode(b); err != nil {
			s.c.Log.Error("subscriptions to notifications not restored: browsers have to subscribe again", "file", s.c.Path, "err", err)
			v = &state{}
		}
	}
	s.state = v
	return v, nil
}

// loadKeys returns the state, and creates missing keys. The caller holds mu.
func (s *Set) loadKeys() (*state, error) {
	v, err := s.load()
	if err != nil || v.Key != "" {
		return v, err
	}
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	v.Key, v.Secret = base64.RawURLEncoding.EncodeToString(key.Bytes()), make([]byte, secretSize)
	_, _ = rand.Read(v.Secret) // never fails
	if err := s.save(); err != nil {
		s.state = nil // browsers must not subscribe with keys that the next daemon lacks
		return nil, err
	}
	return v, nil
}

// save writes the file. The caller holds mu.
func (s *Set) save() error {
	b, err := json.Marshal(s.state)
	if err == nil {
		b = append(b, '\n')
		_, err = decode(b) // the next daemon must accept it
	}
	if err == nil {
		err = atomicfile.Write(s.c.Path, atomicfile.Options{Mode: 0o600, Sync: atomicfile.ContentAndName}, b)
	}
	if err != nil {
		return api.Errorf(api.CodeStorage, "store the subscriptions to notifications: %v", err).WithHint("%s", api.CodeStorage.Hint())
	}
	return nil
}

// Key returns the public key with which browsers subscribe.
func (s *Set) Key() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.loadKeys()
	if err != nil {
		return "", err
	}
	return publicKey(v.Key)
}

// isOf reports whether a subscription belongs to a login; nil is the user, that owns all.
func (sub *subscription) isOf(g *apitoken.Grant) bool {
	return g == nil || sub.Info.Login == g.Name && sub.LoginID == g.ID()
}

// Subscriptions returns the subscriptions of a login, or all for nil, oldest first.
func (s *Set) Subscriptions(g *apitoken.Grant) ([]api.PushSubscription, error) {
	s.Sweep()
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.load()
	if err != nil {
		return nil, err
	}
	list := []api.PushSubscription{}
	for _, sub := range v.Subscriptions {
		if sub.isOf(g) {
			list = append(list, sub.Info)
		}
	}
	return list, nil
}

// Subscribe adds a browser's subscription for a login, or replaces the one with the same endpoint. g is nil for the user
// without a login: the subscription then ends only when it is removed, and its messages have no buttons.
func (s *Set) Subscribe(g *apitoken.Grant, o api.SubscribePush) (api.PushSubscription, error) {
	if err := check(o); err != nil {
		return api.PushSubscription{}, err
	}
	sub := &subscription{Browser: o}
	sub.Info = api.PushSubscription{ID: idOf(o.Endpoint), Device: o.Device, Service: hostOf(o.Endpoint), Created: time.Now().UTC()}
	if g != nil {
		sub.Info.Login, sub.LoginID = g.Name, g.ID()
	}
	s.Sweep()
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.loadKeys()
	if err != nil {
		return api.PushSubscription{}, err
	}
	all := append(without(v.Subscriptions, sub.Info.ID), sub)
	if len(all) > maxSubscriptions {
		return api.PushSubscription{}, api.Errorf(api.CodeLimit, "too many devices (%d) have subscribed to notifications", maxSubscriptions).
			WithHint("remove one in the page's settings")
	}
	if own := slices.DeleteFunc(slices.Clone(all), func(sub *subscription) bool { return !sub.isOf(g) }); g != nil && len(own) > maxOfLogin {
		return api.PushSubscription{}, api.Errorf(api.CodeLimit, "too many devices (%d) of this login have subscribed to notifications", maxOfLogin).
			WithHint("remove one in the page's settings")
	}
	return sub.Info, s.replace(v, all)
}

// without returns a new list without the subscription with an id.
func without(all []*subscription, id string) []*subscription {
	return slices.DeleteFunc(slices.Clone(all), func(sub *subscription) bool { return sub.Info.ID == id })
}

// replace stores a list of subscriptions, or keeps the old one if that fails. The caller holds mu.
func (s *Set) replace(v *state, all []*subscription) error {
	was := v.Subscriptions
	v.Subscriptions = all
	err := s.save()
	if err != nil {
		v.Subscriptions = was
	}
	return err
}

// Unsubscribe removes a subscription of a login, or any for nil.
func (s *Set) Unsubscribe(g *apitoken.Grant, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.load()
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(v.Subscriptions, func(sub *subscription) bool { return sub.Info.ID == id && sub.isOf(g) }) {
		return api.Errorf(api.CodeNotFound, "no subscription %.40q (removed, or of another login)", id).WithHint("GET %s/push lists them", api.Version)
	}
	return s.replace(v, without(v.Subscriptions, id))
}

// Sweep removes the subscriptions whose login has ended.
func (s *Set) Sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.load()
	if err != nil {
		s.c.Log.Warn("remove ended subscriptions to notifications", "err", err)
		return
	}
	kept := slices.DeleteFunc(slices.Clone(v.Subscriptions), func(sub *subscription) bool {
		_, err := s.login(sub)
		return errors.Is(err, errEnded)
	})
	if len(kept) == len(v.Subscriptions) {
		return
	}
	v.Subscriptions = kept // also if it cannot be stored: the next daemon sweeps, too
	if err := s.save(); err != nil {
		s.c.Log.Warn("remove ended subscriptions to notifications", "err", err)
	}
}

// errEnded is returned for a subscription whose login has ended.
var errEnded = errors.New("the login that subscribed has ended")

// login returns the grant of a subscription's login. A subscription of the user has all rights.
func (s *Set) login(sub *subscription) (apitoken.Grant, error) {
	if sub.Info.Login == "" {
		return apitoken.Grant{Level: apitoken.All}, nil
	}
	g, err := s.c.Tokens.GrantByName(sub.Info.Login)
	if errors.Is(err, apitoken.ErrNotFound) || errors.Is(err, apitoken.ErrExpired) || err == nil && g.ID() != sub.LoginID {
		err = errEnded
	}
	return g, err
}

// idOf returns the id of the subscription with an endpoint.
func idOf(endpoint string) string {
	sum := sha256.Sum256([]byte(endpoint))
	return hex.EncodeToString(sum[:6])
}

// hostOf returns the host of an endpoint. The rest of the URL is secret.
func hostOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	return u.Host
}
