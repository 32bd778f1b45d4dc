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

// fakeHost is a push service in memory.
type fakeHost struct {
	mu     sync.Mutex
	got    []receivedPost
	answer func(n int, r *http.Request) (status int, header http.Header, err error) // of the n-th request, from 0
}

// receivedPost is a request that a fakeHost received.
type receivedPost struct {
	at     time.Time
	header http.Header
	body   string
}

func (h *fakeHost) RoundTrip(r *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	n := len(h.got)
	h.got = append(h.got, receivedPost{time.Now(), r.Header.Clone(), string(b)})
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

func (h *fakeHost) all() []receivedPost {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]receivedPost{}, h.got...)
}

// openQueue opens a queue whose posts go to h.
func openQueue(t *testing.T, dir string, h *fakeHost) *Queue {
	t.Helper()
	client := Client()
	client.Transport = h
	q, err := Open(dir, client, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// mustPost posts a notice and fails the test on an error.
func mustPost(t *testing.T, q *Queue, n Notice) {
	t.Helper()
	if err := q.Post(n); err != nil {
		t.Fatal(err)
	}
}

// countFiles returns the number of notice files in dir.
func countFiles(t *testing.T, dir string) int {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.notice"))
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// FEATURES: R82
func TestNotice_Formats(t *testing.T) {
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
		t.Errorf("ntfy got %q", body)
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
		t.Errorf("got JSON\n%s, want\n%s", body, want)
	}
	n.Data = json.RawMessage(`[1]`)
	if _, err := n.request(t.Context(), "7", 0); err == nil {
		t.Error("data that is a list: got no error")
	}
	for url, want := range map[string]Format{
		"https://ntfy.sh/x": Ntfy, "https://ntfy.example.org/x": Ntfy, "https://example.org/ntfy": JSON, "https://notntfy.sh/x": JSON,
	} {
		if got := (&Notice{URL: url}).format(); got != want {
			t.Errorf("%s: %s", url, got)
		}
	}
}

// TestPost_ErrorsHideURL checks that a URL is a password: errors name only the host.
func TestPost_ErrorsHideURL(t *testing.T) {
	const url = "https://me:hunter2@example.org/secret-topic?auth=tk"
	for _, c := range []struct {
		name  string
		h     *fakeHost
		final bool
		want  string
	}{
		{"no way there", &fakeHost{answer: func(int, *http.Request) (int, http.Header, error) { return 0, nil, errors.New("no route") }}, false, "no route"},
		{"busy", &fakeHost{answer: func(int, *http.Request) (int, http.Header, error) {
			return 429, http.Header{"Retry-After": {"77"}}, nil
		}}, false, "429"},
		{"broken", &fakeHost{answer: func(int, *http.Request) (int, http.Header, error) { return 502, nil, nil }}, false, "502"},
		{"refused", &fakeHost{answer: func(int, *http.Request) (int, http.Header, error) { return 403, nil, nil }}, true, "403"},
		{"elsewhere", &fakeHost{answer: func(int, *http.Request) (int, http.Header, error) {
			return 302, http.Header{"Location": {"https://evil.example/"}}, nil
		}}, true, "sends elsewhere"},
	} {
		client := Client()
		client.Transport = c.h
		err := Post(t.Context(), client, &Notice{URL: url}, "1", 0)
		var refused *RejectedError
		var later *RetryError
		if errors.As(err, &refused) != c.final || errors.As(err, &later) == c.final || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.name == "busy" && (later == nil || later.RetryAfter != 77*time.Second) {
			t.Errorf("got %+v without the host's Retry-After", later)
		}
		for _, secret := range []string{"hunter2", "secret-topic", "tk", "evil.example"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: got secret %q in error %q", c.name, secret, err)
			}
		}
		if len(c.h.all()) != 1 {
			t.Errorf("%s: got %d requests", c.name, len(c.h.all()))
		}
	}
	for _, bad := range []string{"", "ftp://x", "https://", "x y"} {
		if err := Post(context.Background(), nil, &Notice{URL: bad}, "1", 0); err == nil {
			t.Errorf("invalid URL %q: got no error", bad)
		}
	}
}

// TestQueue_Retries checks that a failed notice is posted again with the same id, at increasing intervals.
func TestQueue_Retries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHost{answer: func(n int, _ *http.Request) (int, http.Header, error) {
			switch {
			case n == 0:
				return 0, nil, errors.New("network is down")
			case n == 1:
				return 503, http.Header{"Retry-After": {"30"}}, nil
			}
			return 200, nil, nil
		}}
		dir := t.TempDir()
		q := openQueue(t, dir, h)
		defer q.Close()
		mustPost(t, q, Notice{URL: "https://example.org/a", Event: "failed", Text: "one"})
		synctest.Wait()
		if s := q.Status(); len(s) != 1 || s[0].Pending != 1 || !strings.Contains(s[0].LastError, "network is down") || s[0].Host != "example.org" || countFiles(t, dir) != 1 {
			t.Errorf("after a failure: %+v, %d files", s, countFiles(t, dir))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		all := h.all()
		if len(all) != 3 {
			t.Fatalf("got %d attempts", len(all))
		}
		if a, b := all[1].at.Sub(all[0].at), all[2].at.Sub(all[1].at); a != minBackoff || b != 30*time.Second {
			t.Errorf("got pauses of %v and %v", a, b)
		}
		if id := all[0].header.Get("Idempotency-Key"); id == "" || id != all[2].header.Get("Idempotency-Key") {
			t.Errorf("got ids %q and %q", id, all[2].header.Get("Idempotency-Key"))
		}
		if s := q.Status(); s[0].Pending != 0 || s[0].LastError != "" || s[0].LastDelivered.IsZero() || countFiles(t, dir) != 0 {
			t.Errorf("afterwards: %+v, %d files", s, countFiles(t, dir))
		}
	})
}

// TestQueue_RateLimit checks that after a burst, notices are posted one at a time. Excess notices are counted, and
// other URLs do not wait for them.
func TestQueue_RateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, dir := &fakeHost{}, t.TempDir()
		q := openQueue(t, dir, h)
		defer q.Close()
		began := time.Now()
		for i := range 100 {
			mustPost(t, q, Notice{URL: "https://example.org/a", Text: fmt.Sprint(i)})
			synctest.Wait()
		}
		mustPost(t, q, Notice{URL: "https://other.example/", Text: "other"})
		synctest.Wait()
		if n := len(h.all()); n != Burst+1 {
			t.Fatalf("got %d posts at once", n)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		all := h.all()
		if want := Burst + 1 + maxPending; len(all) != want {
			t.Fatalf("got %d of 101 posts, want %d", len(all), want)
		}
		if d := all[len(all)-1].at.Sub(began); d != maxPending*Interval {
			t.Errorf("got all posts within %v", d)
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
		if left != 100-Burst-maxPending {
			t.Errorf("got %d reported as dropped", left)
		}
		if !strings.Contains(all[len(all)-1].body, `"text":"99"`) || countFiles(t, dir) != 0 {
			t.Errorf("got another last post than the newest notice: %s", all[len(all)-1].body)
		}
	})
}

// TestQueue_ResumesAfterRestart checks that pending notices are posted by the next process, once, and posted ones are
// not posted again.
func TestQueue_ResumesAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := true
		h, dir := &fakeHost{}, t.TempDir()
		h.answer = func(int, *http.Request) (int, http.Header, error) {
			if down {
				return 500, nil, nil
			}
			return 204, nil, nil
		}
		q := openQueue(t, dir, h)
		for _, key := range []string{"a", "a", "b"} { // a twice
			mustPost(t, q, Notice{URL: "https://example.org/", Key: key, Text: key})
		}
		synctest.Wait()
		q.Close()
		if err := q.Post(Notice{URL: "https://example.org/", Text: "late"}); err == nil {
			t.Error("Post after Close: got no error")
		}
		first := h.all()[0].header.Get("Idempotency-Key")
		if countFiles(t, dir) != 2 {
			t.Fatalf("%d files", countFiles(t, dir))
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
		q = openQueue(t, dir, h)
		synctest.Wait()
		mustPost(t, q, Notice{URL: "https://example.org/", Key: "a", Text: "again"})
		synctest.Wait()
		q.Close()
		told := h.all()[before:]
		if len(told) != 2 || told[0].header.Get("Idempotency-Key") != first || !strings.Contains(told[1].body, `"text":"b"`) {
			t.Fatalf("the next process posted %d: %+v", len(told), told)
		}
		// The process is killed after the response, before it removes the file.
		if err := os.WriteFile(filepath.Join(dir, first+".notice"), kept, 0o600); err != nil {
			t.Fatal(err)
		}
		q = openQueue(t, dir, h)
		synctest.Wait()
		mustPost(t, q, Notice{URL: "https://elsewhere.example/", Key: "a", Text: "to another"})
		synctest.Wait()
		q.Close()
		if n := len(h.all()) - before; n != 3 || countFiles(t, dir) != 0 {
			t.Errorf("%d were posted, %d files are left", n, countFiles(t, dir))
		}
	})
}

// TestQueue_GivesUp checks that a notice that is rejected for good, or too old, is not retried. The next notice reports
// that.
func TestQueue_GivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, dir := &fakeHost{}, t.TempDir()
		status := 404
		h.answer = func(int, *http.Request) (int, http.Header, error) { return status, nil, nil }
		q := openQueue(t, dir, h)
		defer q.Close()
		mustPost(t, q, Notice{URL: "https://example.org/", Text: "refused"})
		synctest.Wait()
		if s := q.Status()[0]; len(h.all()) != 1 || s.Pending != 0 || s.Dropped != 1 || !strings.Contains(s.LastError, "404") {
			t.Errorf("%d attempts, %+v", len(h.all()), s)
		}
		status = 500
		mustPost(t, q, Notice{URL: "https://example.org/", Text: "never"})
		time.Sleep(maxAge + 2*maxBackoff)
		synctest.Wait()
		if n := len(h.all()); n < 50 || n > 120 || countFiles(t, dir) != 0 {
			t.Errorf("%d attempts in six hours, %d files", n, countFiles(t, dir))
		}
		status = 200
		mustPost(t, q, Notice{URL: "https://example.org/", Text: "back"})
		synctest.Wait()
		if all := h.all(); !strings.Contains(all[len(all)-1].body, `"left_out":2`) {
			t.Errorf("got next notice %s", all[len(all)-1].body)
		}
	})
}

func TestQueue_TooManyURLs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHost{answer: func(int, *http.Request) (int, http.Header, error) { return 500, nil, nil }}
		q := openQueue(t, t.TempDir(), h)
		defer q.Close()
		for i := range maxURLs {
			mustPost(t, q, Notice{URL: fmt.Sprintf("https://h%d.example/", i)})
		}
		if err := q.Post(Notice{URL: "https://more.example/"}); !errors.Is(err, ErrFull) {
			t.Error(err)
		}
		mustPost(t, q, Notice{URL: "https://h3.example/"})
	})
}

// TestQueue_OldEvent_IsPosted checks that a notice of an old event is posted: its age counts from queueing.
func TestQueue_OldEvent_IsPosted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHost{}
		q := openQueue(t, t.TempDir(), h)
		defer q.Close()
		mustPost(t, q, Notice{URL: "https://a.example/t", Event: "input", Title: "x", At: time.Now().Add(-2 * maxAge)})
		synctest.Wait()
		if n := len(h.all()); n != 1 {
			t.Errorf("got %d posts", n)
		}
	})
}

// TestQueue_UnreadableFile checks that an unreadable file of a notice is kept; an invalid one is removed.
func TestQueue_UnreadableFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "1-1.notice"), 0o700); err != nil { // reading it fails for root, too
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "1-2.notice"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	openQueue(t, dir, &fakeHost{}).Close()
	if _, err := os.Stat(filepath.Join(dir, "1-1.notice")); err != nil {
		t.Error(err)
	}
	if n := countFiles(t, dir); n != 1 {
		t.Errorf("got %d files", n)
	}
}
