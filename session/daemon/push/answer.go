//go:build unix

package push

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
)

// answerLifetime is how long the buttons of a notification are valid.
const answerLifetime = 10 * time.Minute

// maxAnswer bounds a signed answer, in bytes.
const maxAnswer = 1024

// Answer is the answer of one button of a notification.
type Answer struct {
	Item   string `json:"i"` // id of the entry
	Answer string `json:"a"`

	Subscription string `json:"s"`
	Since        int64  `json:"t"` // of the entry, in Unix milliseconds: ids restart with a new database
	Expires      int64  `json:"e"` // Unix time
	Nonce        string `json:"n"`
}

// sign returns an answer as text that only this daemon can make.
func sign(secret []byte, a Answer) string {
	a.Nonce = rand.Text()
	b, _ := json.Marshal(a) // of plain values
	return base64.RawURLEncoding.EncodeToString(b) + "." + base64.RawURLEncoding.EncodeToString(mac(secret, b))
}

func mac(secret, b []byte) []byte {
	h := hmac.New(sha256.New, secret)
	h.Write([]byte("longterm push answer\x00"))
	h.Write(b)
	return h.Sum(nil)
}

// verify returns a signed answer, or false if it is not genuine.
func verify(secret []byte, text string) (a Answer, ok bool) {
	if len(text) > maxAnswer || len(secret) != secretSize {
		return Answer{}, false
	}
	body, sum, _ := strings.Cut(text, ".")
	b, err := base64.RawURLEncoding.DecodeString(body)
	got, sumErr := base64.RawURLEncoding.DecodeString(sum)
	if err != nil || sumErr != nil || !hmac.Equal(got, mac(secret, b)) || json.Unmarshal(b, &a) != nil {
		return Answer{}, false
	}
	return a, true
}

// Redeem returns the answer of a button and the login that gives it. logins are those of the browser: the one that
// subscribed must be among them. A signed answer is accepted once, until it expires, and while its entry is open.
func (s *Set) Redeem(ctx context.Context, text string, logins []apitoken.Grant) (Answer, apitoken.Grant, error) {
	a, g, err := s.checkAnswer(text, logins)
	if err != nil {
		return Answer{}, g, err
	}
	items, err := s.c.List(ctx)
	if err != nil {
		return Answer{}, g, err
	}
	isOpen := func(it api.InboxItem) bool {
		return it.ID == a.Item && it.State != "done" && it.Since.UnixMilli() == a.Since
	}
	if !slices.ContainsFunc(items, isOpen) {
		return Answer{}, g, api.Errorf(api.CodeAnswered, "%s was already answered, or its program ended", a.Item).WithHint("the page's inbox lists what is open")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.load()
	if err != nil {
		return Answer{}, g, err
	}
	if _, isUsed := v.Used[a.Nonce]; isUsed {
		return Answer{}, g, usedError(a)
	}
	now := time.Now()
	maps.DeleteFunc(v.Used, func(_ string, expires time.Time) bool { return !expires.After(now) })
	if v.Used == nil {
		v.Used = map[string]time.Time{}
	}
	v.Used[a.Nonce] = time.Unix(a.Expires, 0).UTC()
	if err := s.save(); err != nil { // the entry's state guards it, too
		s.c.Log.Warn("record an answer of a notification", "err", err)
	}
	return a, g, nil
}

func usedError(a Answer) error {
	return api.Errorf(api.CodeAnswered, "this answer to %s was already used", a.Item).WithHint("a button counts once; the page's inbox lists what is open")
}

// checkAnswer returns a signed answer that is genuine, neither expired nor used, and given by the login that subscribed.
func (s *Set) checkAnswer(text string, logins []apitoken.Grant) (a Answer, g apitoken.Grant, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, err := s.load()
	if err != nil {
		return a, g, err
	}
	a, ok := verify(v.Secret, text)
	if !ok {
		return a, g, api.Errorf(api.CodeUnauthorized, "the answer is not one of this daemon's notifications").WithHint("answer in the page")
	}
	if time.Now().Unix() >= a.Expires {
		return a, g, api.Errorf(api.CodeStale, "the button for %s has expired (valid for %d minutes)", a.Item, answerLifetime/time.Minute).WithHint("answer in the page's inbox")
	}
	if _, isUsed := v.Used[a.Nonce]; isUsed {
		return a, g, usedError(a)
	}
	i := slices.IndexFunc(v.Subscriptions, func(sub *subscription) bool { return sub.Info.ID == a.Subscription })
	if i >= 0 {
		_, err = s.login(v.Subscriptions[i])
	}
	if i < 0 || errors.Is(err, errEnded) {
		return a, g, api.Errorf(api.CodeUnauthorized, "this device is no longer subscribed: its subscription was removed, or its login has ended").WithHint("log in to the page, and subscribe again")
	}
	if err != nil {
		return a, g, api.Errorf(api.CodeStorage, "%v", err).WithHint("%s", api.CodeStorage.Hint())
	}
	j := slices.IndexFunc(logins, func(g apitoken.Grant) bool { return v.Subscriptions[i].Info.Login != "" && v.Subscriptions[i].isOf(&g) })
	if j < 0 {
		return a, g, api.Errorf(api.CodeUnauthorized, "the answer belongs to another login").WithHint("log in to the page, and subscribe again")
	}
	return a, logins[j], nil
}
