package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// host is a push service in memory.
type host struct {
	mu     sync.Mutex
	got    []got
	answer func(n int, r *http.Request) (status int, header http.Header, err error) // of the n-th request, from 0
}

type got struct {
	at     time.Time
	header http.Header
	body   string
}

func (h *host) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	n := len(h.got)
	h.got = append(h.got, got{time.Now(), r.Header.Clone(), string(b)})
	h.mu.Unlock()
	status, header := 200, http.Header{}
	if h.answer != nil {
		s, more, err := h.answer(n, r)
		if err != nil {
			return nil, err
		}
		if status = s; more != nil {
			header = more
		}
	}
	return &http.Response{StatusCode: status, Status: fmt.Sprint(status), Header: header, Body: http.NoBody, Request: r}, nil
}

func (h *host) all() []got {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]got{}, h.got...)
}

func open(t *testing.T, dir string, h *host) *Queue {
	t.Helper()
	client := Client()
	client.Transport = h
	q, err := Open(dir, client, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func post(t *testing.T, q *Queue, n Notice) {
	t.Helper()
	if err := q.Post(n); err != nil {
		t.Fatal(err)
	}
}

func files(t *testing.T, dir string) int {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.notice"))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// FEATURES: R82
func TestFormats(t *testing.T) {
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	n := Notice{
		URL: "https://user:pw@ntfy.sh/topic", Event: "failed", Title: "build: schlug fehl ✗", Text: "make\nall \x1b[31m", Urgent: true, At: at,
		Data: json.RawMessage(`{"exit_code":2}`),
	}
	req, err := n.request(t.Context(), "7", 3)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(req.Body)
	if string(body) != "make all  [31m (3 earlier notices dropped)" {
		t.Errorf("ntfy is told %q", body)
	}
	for name, want := range map[string]string{
		"Title": "=?utf-8?b?YnVpbGQ6IHNjaGx1ZyBmZWhsIOKclw==?=", "Priority": "high", "Tags": "x", "Idempotency-Key": "7", "X-Sequence-ID": "7",
	} {
		if got := req.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	n.Format = JSON
	if req, err = n.request(t.Context(), "7", 0); err != nil {
		t.Fatal(err)
	}
	body, _ = io.ReadAll(req.Body)
	want := `{"id":"7","event":"failed","title":"build: schlug fehl ✗","text":"make all  [31m","at":"2026-05-01T10:00:00Z","exit_code":2}`
	if string(body) != want || req.Header.Get("Content-Type") != "application/json" {
		t.Errorf("JSON is\n%s, want\n%s", body, want)
	}
	n.Data = json.RawMessage(`[1]`)
	if _, err := n.request(t.Context(), "7", 0); err == nil {
		t.Error("a list was taken for an object")
	}
	for url, want := range map[string]Format{
		"https://ntfy.sh/x": Ntfy, "https://ntfy.example.org/x": Ntfy, "https://example.org/ntfy": JSON, "https://notntfy.sh/x": JSON,
	} {
		if got := (&Notice{URL: url}).format(); got != want {
			t.Errorf("%s: %s", url, got)
		}
	}
}

// A URL is a password: errors name the host, whatever went wrong.
func TestErrorsHideTheURL(t *testing.T) {
	const url = "https://me:hunter2@example.org/secret-topic?auth=tk"
	for _, c := range []struct {
		name  string
		h     *host
		final bool
		want  string
	}{
		{"no way there", &host{answer: func(int, *http.Request) (int, http.Header, error) { return 0, nil, errors.New("no route") }}, false, "no route"},
		{"busy", &host{answer: func(int, *http.Request) (int, http.Header, error) {
			return 429, http.Header{"Retry-After": {"77"}}, nil
		}}, false, "429"},
		{"broken", &host{answer: func(int, *http.Request) (int, http.Header, error) { return 502, nil, nil }}, false, "502"},
		{"refused", &host{answer: func(int, *http.Request) (int, http.Header, error) { return 403, nil, nil }}, true, "403"},
		{"elsewhere", &host{answer: func(int, *http.Request) (int, http.Header, error) {
			return 302, http.Header{"Location": {"https://evil.example/"}}, nil
		}}, true, "sends elsewhere"},
	} {
		client := Client()
		client.Transport = c.h
		err := Post(t.Context(), client, &Notice{URL: url}, "1", 0)
		var refused *Refused
		var later *Later
		if errors.As(err, &refused) != c.final || errors.As(err, &later) == c.final || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.name == "busy" && (later == nil || later.After != 77*time.Second) {
			t.Errorf("what the host asked for is not known: %+v", later)
		}
		for _, secret := range []string{"hunter2", "secret-topic", "tk", "evil.example"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %q is told in %q", c.name, secret, err)
			}
		}
		if len(c.h.all()) != 1 {
			t.Errorf("%s: %d requests", c.name, len(c.h.all()))
		}
	}
	for _, bad := range []string{"", "ftp://x", "https://", "x y"} {
		if err := Post(context.Background(), nil, &Notice{URL: bad}, "1", 0); err == nil {
			t.Errorf("%q was posted to", bad)
		}
	}
}

// What fails is posted again, with the same id, and the longer it fails the less often.
func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{answer: func(n int, _ *http.Request) (int, http.Header, error) {
			switch {
			case n == 0:
				return 0, nil, errors.New("network is down")
			case n == 1:
				return 503, http.Header{"Retry-After": {"30"}}, nil
			}
			return 200, nil, nil
		}}
		dir := t.TempDir()
		q := open(t, dir, h)
		defer q.Close()
		post(t, q, Notice{URL: "https://example.org/a", Event: "failed", Text: "one"})
		synctest.Wait()
		if s := q.Status(); len(s) != 1 || s[0].Waiting != 1 || !strings.Contains(s[0].Failing, "network is down") || s[0].Host != "example.org" || files(t, dir) != 1 {
			t.Errorf("after a failure: %+v, %d files", s, files(t, dir))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		all := h.all()
		if len(all) != 3 {
			t.Fatalf("%d attempts", len(all))
		}
		if a, b := all[1].at.Sub(all[0].at), all[2].at.Sub(all[1].at); a != firstPause || b != 30*time.Second {
			t.Errorf("pauses of %v and %v", a, b)
		}
		if id := all[0].header.Get("Idempotency-Key"); id == "" || id != all[2].header.Get("Idempotency-Key") {
			t.Errorf("ids %q and %q", id, all[2].header.Get("Idempotency-Key"))
		}
		if s := q.Status(); s[0].Waiting != 0 || s[0].Failing != "" || s[0].Told.IsZero() || files(t, dir) != 0 {
			t.Errorf("afterwards: %+v, %d files", s, files(t, dir))
		}
	})
}

// A burst is posted, and then one at a time; what is too much is counted, and nobody else waits for it.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, dir := &host{}, t.TempDir()
		q := open(t, dir, h)
		defer q.Close()
		began := time.Now()
		for i := range 100 {
			post(t, q, Notice{URL: "https://example.org/a", Text: fmt.Sprint(i)})
			synctest.Wait()
		}
		post(t, q, Notice{URL: "https://other.example/", Text: "other"})
		synctest.Wait()
		if n := len(h.all()); n != Burst+1 {
			t.Fatalf("%d at once", n)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		all := h.all()
		if want := Burst + 1 + maxWaiting; len(all) != want {
			t.Fatalf("%d of 101 were posted, want %d", len(all), want)
		}
		if d := all[len(all)-1].at.Sub(began); d != maxWaiting*Every {
			t.Errorf("they took %v", d)
		}
		left := 0
		for _, g := range all {
			var body struct {
				LeftOut int `json:"left_out"`
			}
			if err := json.Unmarshal([]byte(g.body), &body); err != nil {
				t.Fatal(err)
			}
			left += body.LeftOut
		}
		if left != 100-Burst-maxWaiting {
			t.Errorf("%d are said to be left out", left)
		}
		if !strings.Contains(all[len(all)-1].body, `"text":"99"`) || files(t, dir) != 0 {
			t.Errorf("the newest is not the last: %s", all[len(all)-1].body)
		}
	})
}

// What waits goes on in the next process, once, and what was posted is not posted again there.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := true
		h, dir := &host{}, t.TempDir()
		h.answer = func(int, *http.Request) (int, http.Header, error) {
			if down {
				return 500, nil, nil
			}
			return 204, nil, nil
		}
		q := open(t, dir, h)
		for _, key := range []string{"a", "a", "b"} { // a twice
			post(t, q, Notice{URL: "https://example.org/", Key: key, Text: key})
		}
		synctest.Wait()
		q.Close()
		if err := q.Post(Notice{URL: "https://example.org/", Text: "late"}); err == nil {
			t.Error("a queue that is closed took a notice")
		}
		first := h.all()[0].header.Get("Idempotency-Key")
		if files(t, dir) != 2 {
			t.Fatalf("%d files", files(t, dir))
		}
		kept, err := os.ReadFile(filepath.Join(dir, first+".notice"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "0.notice"), []byte(`{"url":`), 0o600); err != nil { // cut off
			t.Fatal(err)
		}
		down = false
		before := len(h.all())
		q = open(t, dir, h)
		synctest.Wait()
		post(t, q, Notice{URL: "https://example.org/", Key: "a", Text: "again"})
		synctest.Wait()
		q.Close()
		told := h.all()[before:]
		if len(told) != 2 || told[0].header.Get("Idempotency-Key") != first || !strings.Contains(told[1].body, `"text":"b"`) {
			t.Fatalf("the next process posted %d: %+v", len(told), told)
		}
		// Killed behind the answer, before the file was gone.
		if err := os.WriteFile(filepath.Join(dir, first+".notice"), kept, 0o600); err != nil {
			t.Fatal(err)
		}
		q = open(t, dir, h)
		synctest.Wait()
		post(t, q, Notice{URL: "https://elsewhere.example/", Key: "a", Text: "to another"})
		synctest.Wait()
		q.Close()
		if n := len(h.all()) - before; n != 3 || files(t, dir) != 0 {
			t.Errorf("%d were posted, %d files are left", n, files(t, dir))
		}
	})
}

// What is refused for good, or too old, is not tried for ever; who comes next is told of it.
func TestGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, dir := &host{}, t.TempDir()
		status := 404
		h.answer = func(int, *http.Request) (int, http.Header, error) { return status, nil, nil }
		q := open(t, dir, h)
		defer q.Close()
		post(t, q, Notice{URL: "https://example.org/", Text: "refused"})
		synctest.Wait()
		if s := q.Status()[0]; len(h.all()) != 1 || s.Waiting != 0 || s.LeftOut != 1 || !strings.Contains(s.Failing, "404") {
			t.Errorf("%d attempts, %+v", len(h.all()), s)
		}
		status = 500
		post(t, q, Notice{URL: "https://example.org/", Text: "never"})
		time.Sleep(keepFor + 2*maxPause)
		synctest.Wait()
		if n := len(h.all()); n < 50 || n > 120 || files(t, dir) != 0 {
			t.Errorf("%d attempts in six hours, %d files", n, files(t, dir))
		}
		status = 200
		post(t, q, Notice{URL: "https://example.org/", Text: "back"})
		synctest.Wait()
		if all := h.all(); !strings.Contains(all[len(all)-1].body, `"left_out":2`) {
			t.Errorf("who comes next says %s", all[len(all)-1].body)
		}
	})
}

func TestTooManyURLs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{answer: func(int, *http.Request) (int, http.Header, error) { return 500, nil, nil }}
		q := open(t, t.TempDir(), h)
		defer q.Close()
		for i := range maxURLs {
			post(t, q, Notice{URL: fmt.Sprintf("https://h%d.example/", i)})
		}
		if err := q.Post(Notice{URL: "https://more.example/"}); !errors.Is(err, ErrFull) {
			t.Error(err)
		}
		post(t, q, Notice{URL: "https://h3.example/"})
	})
}

// What is told late, since a program waited for long before, is posted: its age begins when it was taken.
func TestLateNotice_IsPosted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		q := open(t, t.TempDir(), h)
		defer q.Close()
		post(t, q, Notice{URL: "https://a.example/t", Event: "input", Title: "x", At: time.Now().Add(-2 * keepFor)})
		synctest.Wait()
		if n := len(h.all()); n != 1 {
			t.Errorf("posted %d times", n)
		}
	})
}

// A notice that cannot be read now is not thrown away; what is none is.
func TestNoticeThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "1-1.notice"), 0o700); err != nil { // reading it fails for root, too
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "1-2.notice"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, dir, &host{}).Close()
	if _, err := os.Stat(filepath.Join(dir, "1-1.notice")); err != nil {
		t.Error(err)
	}
	if n := files(t, dir); n != 1 {
		t.Errorf("%d files are left", n)
	}
}
