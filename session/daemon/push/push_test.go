//go:build unix

package push

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/daemon/push/pushtest"
)

// service is a push service without a network.
type service struct {
	mu     sync.Mutex
	status []int // of the next answers; then 201
	phrase string
	header http.Header
	hang   bool // until the request ends
	got    []*http.Request
	bodies [][]byte
}

func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.got, s.bodies = append(s.got, r), append(s.bodies, b)
	code, hang := http.StatusCreated, s.hang
	if len(s.status) > 0 {
		code, s.status = s.status[0], s.status[1:]
	}
	s.mu.Unlock()
	if hang {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return &http.Response{StatusCode: code, Status: fmt.Sprint(code) + s.phrase, Header: s.header, Body: io.NopCloser(strings.NewReader("")), Request: r}, nil
}

// count returns how many messages came.
func (s *service) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.got)
}

// messages decrypts all messages.
func (s *service) messages(t *testing.T, b *pushtest.Browser) (list []message) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, body := range s.bodies {
		var m message
		if err := b.Decrypt(body, &m); err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	return list
}

// bench is a Set with an inbox, a login and a push service.
type bench struct {
	*Set
	t      *testing.T
	tokens *apitoken.Store
	login  apitoken.Grant
	to     *service
	phone  *pushtest.Browser

	mu    sync.Mutex // guards what follows
	conf  Settings
	items []api.InboxItem
}

func newBench(t *testing.T, may ...string) *bench {
	t.Helper()
	b := &bench{t: t, tokens: apitoken.Open(filepath.Join(t.TempDir(), "tokens.json")), to: &service{}, phone: pushtest.New(t), conf: Settings{Delay: 10 * time.Second, Details: true}}
	if len(may) == 0 {
		may = apitoken.Everything.Names()
	}
	if _, _, err := b.tokens.Make(apitoken.Token{Name: "web-a", May: may, Page: true}); err != nil {
		t.Fatal(err)
	}
	var err error
	if b.login, err = b.tokens.GrantByName("web-a"); err != nil {
		t.Fatal(err)
	}
	b.reopen(filepath.Join(t.TempDir(), "push.json"))
	return b
}

// reopen has a later daemon use a file.
func (b *bench) reopen(path string) {
	b.Set = New(Config{
		Path: path, Tokens: b.tokens, Log: slog.New(slog.DiscardHandler), Client: &http.Client{Transport: b.to},
		List: func(context.Context) ([]api.InboxItem, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			return slices.Clone(b.items), nil
		},
		Mask: func(text string) string { return strings.ReplaceAll(text, "hunter2", "[redacted]") },
		Settings: func() Settings {
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.conf
		},
	})
}

func (b *bench) set(items ...api.InboxItem) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items = items
}

func (b *bench) subscribe() api.PushSubscription {
	b.t.Helper()
	v, err := b.Subscribe(&b.login, b.phone.Subscription("https://push.example/one"))
	if err != nil {
		b.t.Fatal(err)
	}
	return v
}

func everything(_ context.Context, _ apitoken.Grant, all []api.InboxItem) []api.InboxItem { return all }

// follow starts delivery, and returns a function that reports news.
func (b *bench) follow() (news func()) {
	events := make(chan api.Event, 8)
	stop := b.Follow(events, everything)
	b.t.Cleanup(stop)
	return func() { events <- api.Event{Kind: "inbox"} }
}

func approval(id, risk string) api.InboxItem {
	return api.InboxItem{
		ID: id, Kind: api.InboxApproval, State: "open", Session: "s", Name: "work", Text: "bot requests approval: make hunter2", Since: time.Now(), Risk: risk,
		Answers: []string{"once", "session", "deny"}, Answerable: true,
	}
}

func question(id, asks string) api.InboxItem {
	return api.InboxItem{
		ID: id, Kind: api.InboxQuestion, State: "open", Session: "s", Name: "work", Text: "asks: " + asks, Since: time.Now(), Input: "confirm",
		Answers: []string{"y", "n"}, Answerable: true,
	}
}

func failed(id string) api.InboxItem {
	return api.InboxItem{ID: id, Kind: api.InboxFailed, State: "open", Session: "s", Name: "build", Text: "make failed with status 2", Since: time.Now()}
}

// codeOf is the code of an API error.
func codeOf(err error) api.Code {
	var e *api.Error
	if !errors.As(err, &e) || e.Hint == "" {
		return ""
	}
	return e.Code
}

// Each subscription receives each open entry once, encrypted and redacted, and no older one. Answers are offered where
// little is at risk.
//
// FEATURES: R130
func TestFollow_SendsEachEntryOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.set(failed("I1"))
		time.Sleep(time.Second)
		b.subscribe()
		news := b.follow()
		high, low, confirm, risky := approval("A1", "high"), approval("A2", "low"), question("I3", "Go on? [y/N]"), question("I4", "Delete all? [y/N]")
		port := api.InboxItem{ID: "I5", Kind: api.InboxPort, State: "open", Since: time.Now()}
		done := failed("I6")
		done.State = "done"
		old := failed("I1")
		old.Since = time.Now().Add(-time.Minute)
		b.set(high, low, confirm, risky, port, done, old)
		news()
		time.Sleep(5 * time.Second)
		if n := b.to.count(); n != 2 {
			t.Errorf("%d messages before the questions have waited", n)
		}
		time.Sleep(time.Minute)
		news()
		time.Sleep(time.Minute)
		buttons := map[string]int{}
		for i, m := range b.to.messages(t, b.phone) {
			if _, again := buttons[m.Tag]; again || strings.Contains(m.Title+m.Body, "hunter2") || m.Hash != inboxHash {
				t.Errorf("%+v", m)
			}
			buttons[m.Tag] = len(m.Buttons)
			r := b.to.got[i]
			if h := r.Header; r.Method != "POST" || h.Get("Content-Encoding") != "aes128gcm" || h.Get("TTL") != "86400" || h.Get("Urgency") != "high" || !strings.HasPrefix(h.Get("Authorization"), "vapid t=") {
				t.Errorf("%s %v", r.Method, h)
			}
		}
		if want := map[string]int{"A1": 0, "A2": 2, "I3": 2, "I4": 0}; fmt.Sprint(buttons) != fmt.Sprint(want) {
			t.Errorf("buttons %v, want %v", buttons, want)
		}
		b.mu.Lock()
		b.conf.Details = false
		b.mu.Unlock()
		b.set(approval("A9", "low"))
		news()
		time.Sleep(time.Minute)
		all := b.to.messages(t, b.phone)
		if m := all[len(all)-1]; m.Tag != "A9" || m.Body != "" || len(m.Buttons) != 0 {
			t.Errorf("without details: %+v", m)
		}
	})
}

// Many entries become one message, and further ones come at a limited rate.
//
// FEATURES: R130
func TestFollow_Summary_WhenManyEntries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.subscribe()
		news := b.follow()
		var many []api.InboxItem
		for i := range 1000 {
			many = append(many, failed(fmt.Sprint("I", i)))
		}
		b.set(many...)
		news()
		time.Sleep(time.Hour)
		if all := b.to.messages(t, b.phone); len(all) != 1 || all[0].Title != "1000 entries in the inbox" {
			t.Fatalf("%d messages, first %+v", len(all), all[0])
		}
		for i := range 10 {
			b.set(slices.Concat(many, []api.InboxItem{failed(fmt.Sprint("J", 2*i)), failed(fmt.Sprint("J", 2*i+1))})...)
			news()
			time.Sleep(2 * time.Second)
		}
		if n := b.to.count(); n > 1+maxMessages+5 {
			t.Errorf("%d messages in 20 s", n)
		}
	})
}

// A push service that fails or does not answer is asked again, ever more seldom; one that has forgotten the
// subscription ends it.
//
// FEATURES: R130
func TestFollow_Retries_WhenServiceFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.subscribe()
		news := b.follow()
		b.to.header = http.Header{"Retry-After": {"100"}}
		b.to.status = []int{503, 429}
		b.set(failed("I1"))
		news()
		time.Sleep(settleTime + 90*time.Second)
		if n := b.to.count(); n != 1 {
			t.Errorf("%d attempts within Retry-After", n)
		}
		if v, err := b.Subscriptions(nil); err != nil || !strings.Contains(v[0].Problem, "503") {
			t.Errorf("%+v, %v", v, err)
		}
		time.Sleep(300 * time.Second)
		if n := b.to.count(); n != 3 {
			t.Errorf("%d attempts, want two that failed and one that did not", n)
		}
		if v, err := b.Subscriptions(nil); err != nil || v[0].Problem != "" {
			t.Errorf("%+v, %v", v, err)
		}
		b.to.mu.Lock()
		b.to.hang = true
		b.to.mu.Unlock()
		b.set(failed("I2"))
		news()
		time.Sleep(settleTime + timeout + time.Second)
		if v, err := b.Subscriptions(nil); err != nil || v[0].Problem == "" { // it timed out
			t.Errorf("%+v, %v", v, err)
		}
		b.set() // seen meanwhile: there is nothing to send again
		n := b.to.count()
		time.Sleep(time.Hour)
		if b.to.count() != n {
			t.Errorf("an entry that was gone was sent")
		}
		b.to.mu.Lock()
		b.to.hang, b.to.status = false, []int{410}
		b.to.mu.Unlock()
		b.set(failed("I3"))
		news()
		time.Sleep(time.Minute)
		if v, err := b.Subscriptions(nil); err != nil || len(v) != 0 {
			t.Errorf("after 410: %+v, %v", v, err)
		}
		if b, err := os.ReadFile(b.c.Path); err != nil || bytes.Contains(b, []byte("push.example")) {
			t.Errorf("%v, %s", err, b)
		}
	})
}

// A message that the push service does not authorize is sent again: the clock of this machine may be wrong meanwhile.
//
// FEATURES: R130
func TestFollow_Retries_WhenUnauthorized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.subscribe()
		news := b.follow()
		b.to.status = []int{401, 403}
		b.set(failed("I1"))
		news()
		time.Sleep(time.Hour)
		if n := b.to.count(); n != 3 {
			t.Errorf("%d attempts, want two that failed and one that did not", n)
		}
	})
}

// A push service's answer of any length leaves a file that the next daemon accepts; a larger file is not written.
//
// FEATURES: R130
func TestSet_FileStaysReadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.subscribe()
		news := b.follow()
		b.to.status, b.to.phrase = []int{400}, " \n"+strings.Repeat("x", maxFile)
		b.set(failed("I1"))
		news()
		time.Sleep(time.Minute)
		b.reopen(b.c.Path)
		v, err := b.Subscriptions(nil)
		if err != nil || len(v) != 1 || !strings.Contains(v[0].Problem, "answered 400  x") || len(v[0].Problem) > 4*maxProblem {
			t.Fatalf("%.400v, %v", v, err)
		}
		b.Set.mu.Lock()
		b.state.Subscriptions[0].Info.Problem = strings.Repeat("x", maxFile)
		err = b.save()
		b.Set.mu.Unlock()
		if codeOf(err) != api.CodeStorage {
			t.Errorf("%.400v", err)
		}
		b.reopen(b.c.Path)
		if v, err := b.Subscriptions(nil); err != nil || len(v) != 1 {
			t.Errorf("%.400v, %v", v, err)
		}
	})
}

// buttonsOf subscribes and returns the buttons of the message about an entry.
func (b *bench) buttonsOf(it api.InboxItem) []button {
	b.t.Helper()
	b.set(it)
	news := b.follow()
	news()
	time.Sleep(30 * time.Second)
	all := b.to.messages(b.t, b.phone)
	if len(all) != 1 || len(all[0].Buttons) != 2 {
		b.t.Fatalf("%+v", all)
	}
	return all[0].Buttons
}

// TestRedeem checks that a button's answer counts once, for ten minutes, of the login that subscribed, and while its entry
// is open.
//
// FEATURES: R130
func TestRedeem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.subscribe()
		it := approval("A1", "low")
		buttons := b.buttonsOf(it)
		if _, _, err := b.tokens.Make(apitoken.Token{Name: "web-b", May: apitoken.Everything.Names(), Page: true}); err != nil {
			t.Fatal(err)
		}
		other, err := b.tokens.GrantByName("web-b")
		if err != nil {
			t.Fatal(err)
		}
		refused := func(what, text string, want api.Code, logins ...apitoken.Grant) {
			t.Helper()
			if a, _, err := b.Redeem(t.Context(), text, logins); codeOf(err) != want || a != (Answer{}) {
				t.Errorf("%s: %+v, %v, want %s", what, a, err, want)
			}
		}
		once := buttons[0].Answer
		body, sum, _ := strings.Cut(once, ".")
		plain, err := base64.RawURLEncoding.DecodeString(body)
		if err != nil {
			t.Fatal(err)
		}
		changed := base64.RawURLEncoding.EncodeToString(bytes.Replace(plain, []byte("once"), []byte("always"), 1))
		refused("forged", changed+"."+sum, api.CodeUnauthorized, b.login)
		refused("signed by another daemon", sign(make([]byte, secretSize), Answer{Item: "A1", Expires: 1 << 40}), api.CodeUnauthorized, b.login)
		refused("empty", "", api.CodeUnauthorized, b.login)
		refused("without a login", once, api.CodeUnauthorized)
		refused("of another login", once, api.CodeUnauthorized, other)
		a, g, err := b.Redeem(t.Context(), once, []apitoken.Grant{other, b.login})
		if err != nil || a.Item != "A1" || a.Answer != "once" || g.Name != "web-a" {
			t.Errorf("%+v, %+v, %v", a, g, err)
		}
		refused("again", once, api.CodeAnswered, b.login)
		b.reopen(b.c.Path)
		refused("again, of the next daemon", once, api.CodeAnswered, b.login)
		later := it
		later.Since = later.Since.Add(time.Minute)
		b.set(later)
		refused("of another entry with the id", buttons[1].Answer, api.CodeAnswered, b.login)
		b.set()
		refused("of a closed entry", buttons[1].Answer, api.CodeAnswered, b.login)
		b.set(it)
		if a, _, err := b.Redeem(t.Context(), buttons[1].Answer, []apitoken.Grant{b.login}); err != nil || a.Answer != "deny" {
			t.Errorf("of the next daemon: %+v, %v", a, err)
		}
		time.Sleep(answerLifetime)
		refused("expired", buttons[1].Answer, api.CodeStale, b.login)
	})
}

// TestRedeem_CountsOnce_WhenAnswersCoincide gives an answer twice at once: both requests pass the first check before one
// of them is recorded.
//
// FEATURES: R130
func TestRedeem_CountsOnce_WhenAnswersCoincide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.subscribe()
		button := b.buttonsOf(approval("A1", "low"))[0].Answer
		b.reopen(b.c.Path) // nothing else reads its list
		list, both := b.c.List, make(chan struct{})
		b.c.List = func(ctx context.Context) ([]api.InboxItem, error) {
			<-both
			return list(ctx)
		}
		errs := make(chan error, 2)
		for range 2 {
			go func() {
				_, _, err := b.Redeem(t.Context(), button, []apitoken.Grant{b.login})
				errs <- err
			}()
		}
		synctest.Wait()
		close(both)
		first, second := <-errs, <-errs
		if first != nil {
			first, second = second, first
		}
		if first != nil || codeOf(second) != api.CodeAnswered {
			t.Errorf("%v, %v", first, second)
		}
	})
}

// TestSubscription_EndsWithLogin checks that a subscription ends with its login, and its answers with it, also if a later
// login has the same name.
//
// FEATURES: R130
func TestSubscription_EndsWithLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		sub := b.subscribe()
		buttons := b.buttonsOf(approval("A1", "low"))
		if _, err := b.tokens.Revoke("web-a"); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.tokens.Make(apitoken.Token{Name: "web-a", May: apitoken.Everything.Names(), Page: true}); err != nil {
			t.Fatal(err)
		}
		again, err := b.tokens.GrantByName("web-a")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.Redeem(t.Context(), buttons[0].Answer, []apitoken.Grant{again}); codeOf(err) != api.CodeUnauthorized {
			t.Errorf("an answer of an ended login: %v", err)
		}
		if err := b.Unsubscribe(&again, sub.ID); codeOf(err) != api.CodeNotFound {
			t.Errorf("%v", err)
		}
		if v, err := b.Subscriptions(nil); err != nil || len(v) != 0 {
			t.Errorf("%+v, %v", v, err)
		}
	})
}

// The next daemon has the same keys and subscriptions, in a file of the user, and sends nothing twice.
//
// FEATURES: R130
func TestSet_RestoresFile_AfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		key, err := b.Key()
		if err != nil {
			t.Fatal(err)
		}
		b.subscribe()
		events := make(chan api.Event, 1)
		stop := b.Follow(events, everything)
		b.set(failed("I1"))
		events <- api.Event{Kind: "inbox"}
		time.Sleep(time.Minute)
		stop()
		if st, err := os.Stat(b.c.Path); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", st, err)
		}
		b.reopen(b.c.Path)
		sent := failed("I1")
		sent.Since = time.Now().Add(-time.Minute)
		b.set(sent, failed("I2"))
		b.follow()
		time.Sleep(time.Minute)
		if again, err := b.Key(); err != nil || again != key {
			t.Errorf("key %q, then %q, %v", key, again, err)
		}
		var tags []string
		for _, m := range b.to.messages(t, b.phone) {
			tags = append(tags, m.Tag)
		}
		if !slices.Equal(tags, []string{"I1", "I2"}) {
			t.Errorf("sent %q", tags)
		}
	})
}

// A login with fewer rights is offered no answers that it may not give.
func TestChoices_WithinRights(t *testing.T) {
	low, confirm := approval("A1", "low"), question("I1", "Go on? [y/N]")
	for _, c := range []struct {
		it   api.InboxItem
		may  apitoken.Rights
		want int
	}{
		{low, apitoken.Everything, 2}, {low, apitoken.Look | apitoken.Approve, 2}, {low, apitoken.Look | apitoken.Type, 0},
		{confirm, apitoken.Everything, 2}, {confirm, apitoken.Look | apitoken.Approve, 0}, {approval("A2", "medium"), apitoken.Everything, 0},
		{question("I2", "Really? …"), apitoken.Everything, 0}, {failed("I3"), apitoken.Everything, 0},
	} {
		if got := choices(&c.it, c.it.Text, c.may); len(got) != c.want {
			t.Errorf("%s with %v: %v", c.it.Text, c.may.Names(), got)
		}
	}
}

// A real TLS server receives a message, at a private address only if that is configured. A redirect is not followed.
//
// FEATURES: R130
func TestNewClient(t *testing.T) {
	got := make(chan []byte, 1)
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
			return
		}
		got <- b
		w.WriteHeader(http.StatusCreated)
	}))
	defer srv.Close()
	b := newBench(t)
	private := false
	b.client = NewClient(func() bool { return private })
	transport := b.client.Transport.(*http.Transport)
	transport.TLSClientConfig = srv.Client().Transport.(*http.Transport).TLSClientConfig
	defer transport.CloseIdleConnections()
	key, err := b.Key()
	if err != nil {
		t.Fatal(err)
	}
	if v := b.state.Key; key == v {
		t.Error("the public key is the private one")
	}
	m := message{Title: "t", Body: strings.Repeat("ü", 300), Tag: "I1", Buttons: []button{{"Yes", strings.Repeat("x", 400)}, {"No", strings.Repeat("x", 400)}}}
	err = b.send(t.Context(), b.phone.Subscription(srv.URL+"/"), b.state.Key, &m)
	if err == nil || !strings.Contains(err.Error(), "private address") || strings.Contains(err.Error(), srv.URL) {
		t.Errorf("a private address: %v", err)
	}
	private = true
	if err := b.send(t.Context(), b.phone.Subscription(srv.URL+"/secret"), b.state.Key, &m); err != nil {
		t.Fatal(err)
	}
	var m2 message
	if err := b.phone.Decrypt(<-got, &m2); err != nil || m2.Body != m.Body || len(m2.Buttons) != 2 {
		t.Errorf("%+v, %v", m2, err)
	}
	if err := b.send(t.Context(), b.phone.Subscription(srv.URL+"/moved"), b.state.Key, &m); !errors.As(err, new(*rejectedError)) {
		t.Errorf("a redirect: %v", err)
	}
}

func TestIsPublic(t *testing.T) {
	for text, want := range map[string]bool{
		"127.0.0.1": false, "10.1.2.3": false, "192.168.0.1": false, "169.254.169.254": false, "100.64.0.1": false, "0.0.0.0": false, "224.0.0.1": false,
		"::1": false, "fe80::1": false, "fd00::1": false, "::ffff:127.0.0.1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false,
		"::127.0.0.1": false, "2001:0:102:304::1": false,
		"8.8.8.8": true, "2606:4700::1111": true, "2001:4860:4860::8888": true,
	} {
		if got := isPublic(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// Only https endpoints with usable keys are accepted, and a bounded number of them.
func TestSubscribe_Rejects(t *testing.T) {
	b := newBench(t)
	good := b.phone.Subscription("https://push.example/x")
	for what, change := range map[string]func(*api.SubscribePush){
		"http":      func(o *api.SubscribePush) { o.Endpoint = "http://push.example/x" },
		"no host":   func(o *api.SubscribePush) { o.Endpoint = "https:///x" },
		"a user":    func(o *api.SubscribePush) { o.Endpoint = "https://a:b@push.example/x" },
		"no key":    func(o *api.SubscribePush) { o.Keys.P256dh = "" },
		"no point":  func(o *api.SubscribePush) { o.Keys.P256dh = base64.RawURLEncoding.EncodeToString(make([]byte, 65)) },
		"long keys": func(o *api.SubscribePush) { o.Keys.Auth += strings.Repeat("=", 1<<20) },
		"no secret": func(o *api.SubscribePush) { o.Keys.Auth = "AAAA" },
		"controls":  func(o *api.SubscribePush) { o.Device = "a\nb" },
	} {
		o := good
		change(&o)
		if _, err := b.Subscribe(&b.login, o); codeOf(err) != api.CodeInvalid {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range maxSubscriptions + 1 {
		g, accepted := &b.login, i < maxOfLogin
		if i > maxOfLogin { // then the user without a login
			g, accepted = nil, i <= maxSubscriptions
		}
		o := good
		o.Endpoint += fmt.Sprint(i)
		if _, err := b.Subscribe(g, o); (err == nil) != accepted || err != nil && codeOf(err) != api.CodeLimit {
			t.Fatalf("%d: %v", i, err)
		}
	}
	o := good
	o.Endpoint += "more"
	if _, err := b.Subscribe(nil, o); codeOf(err) != api.CodeLimit {
		t.Errorf("more than all: %v", err)
	}
	good.Endpoint += "0"
	if _, err := b.Subscribe(&b.login, good); err != nil { // a device that subscribes again
		t.Error(err)
	}
}

// A damaged file has no subscriptions, and the next key replaces it.
func TestSet_DamagedFile(t *testing.T) {
	b := newBench(t)
	if err := os.WriteFile(b.c.Path, []byte(`{"key":"AAAA"`), 0o600); err != nil {
		t.Fatal(err)
	}
	if v, err := b.Subscriptions(nil); err != nil || len(v) != 0 {
		t.Errorf("%v, %v", v, err)
	}
	b.subscribe()
	b.reopen(b.c.Path)
	if v, err := b.Subscriptions(&b.login); err != nil || len(v) != 1 || v[0].Service != "push.example" {
		t.Errorf("%v, %v", v, err)
	}
}

// No text is an answer that was not signed.
func FuzzVerify(f *testing.F) {
	secret := bytes.Repeat([]byte{7}, secretSize)
	f.Add(sign(secret, Answer{Item: "A1", Answer: "once"}))
	f.Add(sign(secret[:31], Answer{Item: "A1", Answer: "once"}))
	f.Add("e30.")
	f.Add(".")
	f.Fuzz(func(t *testing.T, text string) {
		a, ok := verify(secret, text)
		body, _, _ := strings.Cut(text, ".")
		b, err := base64.RawURLEncoding.DecodeString(body)
		if !ok {
			if a != (Answer{}) {
				t.Fatalf("%+v", a)
			}
			return
		}
		if err != nil || !strings.HasSuffix(text, "."+base64.RawURLEncoding.EncodeToString(mac(secret, b))) {
			t.Fatalf("%q counts", text)
		}
	})
}

// A file of subscriptions is used whole, or those of it that are valid; whatever is in it.
func FuzzDecode(f *testing.F) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	sub := subscription{Browser: pushtest.New(f).Subscription("https://push.example/x")}
	sub.Info.ID = idOf(sub.Browser.Endpoint)
	b, err := json.Marshal(state{Key: base64.RawURLEncoding.EncodeToString(key.Bytes()), Secret: make([]byte, secretSize), Subscriptions: []*subscription{&sub, nil, {}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"key":"","secret":""}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := decode(b)
		if err != nil {
			if v != nil {
				t.Fatal("a damaged file has a state")
			}
			return
		}
		if _, err := publicKey(v.Key); err != nil || len(v.Secret) != secretSize {
			t.Fatalf("%v", err)
		}
		for _, sub := range v.Subscriptions {
			if err := check(sub.Browser); err != nil || !strings.HasPrefix(sub.Browser.Endpoint, "https://") && !strings.HasPrefix(strings.ToLower(sub.Browser.Endpoint), "https://") {
				t.Errorf("%+v: %v", sub.Browser, err)
			}
		}
	})
}
