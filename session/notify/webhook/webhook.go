// Package webhook posts notices to URLs: to a push service such as ntfy, or to any program that reads JSON.
//
//	Notice ── Queue.Post ──→ a file ──→ its URL's lane (rate, retries) ──→ Post ──→ the file is removed
//
// A notice that was taken outlives the process that took it: it is a file until it was delivered, refused for good, or
// is too old to be of use. Delivered at least once, in order for each URL; the header Idempotency-Key is the same each
// time. A notice whose Key was posted before is not posted again, by a later process either. Each URL has a goroutine
// for as long as something waits for it; Close waits for them.
//
// URLs are secrets: the topic of a push service is its password. No error and no status has more of one than its host.
package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Format is how a notice is put.
type Format string

// The formats. Auto is Ntfy for hosts that are named so (ntfy.sh, ntfy.example.org), else JSON.
const (
	Auto Format = "auto"
	JSON Format = "json"
	Ntfy Format = "ntfy"
)

// Formats are the names of all.
var Formats = []string{string(Auto), string(JSON), string(Ntfy)}

// Notice is one notification for a webhook.
type Notice struct {
	URL    string `json:"url"`
	Format Format `json:"format,omitempty"` // empty means Auto
	// Key identifies the event; notices with the same key are posted once. Empty disables this check.
	Key    string    `json:"key,omitempty"`
	Event  string    `json:"event"`            // finished, failed, input, approval …
	Title  string    `json:"title"`            // a few words
	Text   string    `json:"text"`             // one line, without what would act on a terminal
	Urgent bool      `json:"urgent,omitempty"` // an answer is awaited
	At     time.Time `json:"at"`               // when it happened
	// Data is a JSON object whose members are merged into the JSON notice; nil adds none.
	Data json.RawMessage `json:"data,omitempty"`
}

const (
	// MaxText bounds title and text of a notice, in characters: ntfy makes a file of longer ones.
	MaxText = 1000
	// MaxData bounds Data, in bytes.
	MaxData = 16 << 10
	// Timeout is how long one attempt may take.
	Timeout = 10 * time.Second
)

// CheckURL refuses what nothing can be posted to.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errors.New("no http or https URL; give one as in https://host/path")
	}
	return nil
}

// Host returns the host of URL text, which is safe to show; path and query may hold secrets.
func Host(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "(no URL)"
	}
	return u.Host
}

func (n *Notice) format() Format {
	if n.Format != "" && n.Format != Auto {
		return n.Format
	}
	if host := strings.ToLower(Host(n.URL)); strings.HasPrefix(host, "ntfy.") {
		return Ntfy
	}
	return JSON
}

// Client returns the default HTTP client of this package. It follows no redirects: a redirect would send the notice to
// a host that the user did not configure.
func Client() *http.Client {
	return &http.Client{Timeout: Timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// Refused is a permanent rejection; Later is a temporary one.
type Refused struct{ Why string }

func (e *Refused) Error() string { return e.Why }

// Later is a temporary failure. After is how long the host asked to wait; 0 if it gave no time.
type Later struct {
	Why   string
	After time.Duration
}

func (e *Later) Error() string { return e.Why }

// Post makes one attempt. id stays the same from attempt to attempt, leftOut is how many notices were dropped before
// this one. Errors are a Refused or a Later, and name the host only.
func Post(ctx context.Context, client *http.Client, n *Notice, id string, leftOut int) error {
	req, err := n.request(ctx, id, leftOut)
	if err != nil {
		return &Refused{err.Error()}
	}
	if client == nil {
		client = Client()
	}
	host := req.URL.Host
	resp, err := client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) { // it has the whole URL
			err = u.Err
		}
		return &Later{Why: fmt.Sprintf("webhook: %s: %v", host, err)}
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	switch s := resp.StatusCode; {
	case s < 300:
		return nil
	case s < 400:
		return &Refused{fmt.Sprintf("webhook: %s sends elsewhere (%s), which is not followed: give the address that it sends to", host, resp.Status)}
	case s >= 500, s == http.StatusTooManyRequests, s == http.StatusRequestTimeout, s == http.StatusTooEarly:
		return &Later{Why: fmt.Sprintf("webhook: %s answered %s", host, resp.Status), After: retryAfter(resp.Header.Get("Retry-After"))}
	}
	return &Refused{fmt.Sprintf("webhook: %s answered %s", host, resp.Status)}
}

func retryAfter(text string) time.Duration {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(min(n, int(maxPause/time.Second))) * time.Second
}

func (n *Notice) request(ctx context.Context, id string, leftOut int) (*http.Request, error) {
	body, err := n.body(id, leftOut)
	if err != nil {
		return nil, err
	}
	if err := CheckURL(n.URL); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, n.URL, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("no URL that can be posted to")
	}
	req.Header.Set("User-Agent", "longterm")
	req.Header.Set("Idempotency-Key", id)
	if n.format() == JSON {
		req.Header.Set("Content-Type", "application/json")
		return req, nil
	}
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	req.Header.Set("Title", mime.BEncoding.Encode("utf-8", OneLine(n.Title, 200)))
	req.Header.Set("X-Sequence-ID", id) // one that comes twice replaces the first
	if tag := tags[n.Event]; tag != "" {
		req.Header.Set("Tags", tag)
	}
	if n.Urgent {
		req.Header.Set("Priority", "high")
	}
	return req, nil
}

// tags are the signs that ntfy shows before a title.
var tags = map[string]string{
	"finished": "white_check_mark", "failed": "x", "input": "question", "approval": "lock",
}

// body returns the request body.
func (n *Notice) body(id string, leftOut int) ([]byte, error) {
	text := OneLine(n.Text, MaxText)
	if n.format() == Ntfy {
		if leftOut > 0 {
			text += fmt.Sprintf(" (%d earlier notices dropped)", leftOut)
		}
		return []byte(text), nil
	}
	own, err := json.Marshal(struct {
		ID      string    `json:"id"`
		Event   string    `json:"event"`
		Title   string    `json:"title"`
		Text    string    `json:"text"`
		At      time.Time `json:"at"`
		LeftOut int       `json:"left_out,omitempty"`
	}{id, n.Event, OneLine(n.Title, 200), text, n.At, leftOut})
	if err != nil {
		return nil, err
	}
	more := bytes.TrimSpace(n.Data)
	if len(more) == 0 || bytes.Equal(more, []byte("{}")) || bytes.Equal(more, []byte("null")) {
		return own, nil
	}
	if more[0] != '{' || !json.Valid(more) {
		return nil, errors.New("webhook: notice data is not a JSON object")
	}
	return append(append(own[:len(own)-1], ','), more[1:]...), nil
}

// OneLine returns s as valid UTF-8 of at most most characters, with control characters replaced by blanks. Text from
// programs must not control terminals or headers.
func OneLine(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
