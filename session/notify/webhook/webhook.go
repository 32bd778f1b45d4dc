// Package webhook posts notices to URLs: to a push service such as ntfy, or to any program that reads JSON.
//
//	Notice ── Queue.Post ──→ a file ──→ its URL's queue (rate limit, retries) ──→ Post ──→ the file is removed
//
// An accepted notice outlives its process: it is a file until it was delivered, rejected for good, or is too old. It is
// delivered at least once, in order for each URL; the header Idempotency-Key is the same each time. A notice with the Key
// of a posted one is not posted, not even by a later process. Each URL has a goroutine while it has pending notices; Close
// waits for them.
//
// URLs are secrets: the topic of a push service is its password. Errors and statuses have only the host.
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

// Format is the format of a posted notice.
type Format string

// Formats of notices. Auto is Ntfy for hosts with that name (ntfy.sh, ntfy.example.org), otherwise JSON.
const (
	Auto Format = "auto"
	JSON Format = "json"
	Ntfy Format = "ntfy"
)

// Formats has the names of all formats.
var Formats = []string{string(Auto), string(JSON), string(Ntfy)}

// Notice is one notification for a webhook.
type Notice struct {
	URL    string `json:"url"`
	Format Format `json:"format,omitempty"` // empty means Auto
	// Key identifies the event; notices with the same key are posted once. Empty disables this check.
	Key    string    `json:"key,omitempty"`
	Event  string    `json:"event"`            // finished, failed, input, approval …
	Title  string    `json:"title"`            // a few words
	Text   string    `json:"text"`             // one line, without control characters
	Urgent bool      `json:"urgent,omitempty"` // an answer is needed
	At     time.Time `json:"at"`               // time of the event
	// Data is a JSON object whose members are merged into the JSON notice; nil adds none.
	Data json.RawMessage `json:"data,omitempty"`
}

const (
	// MaxText bounds title and text of a notice, in characters: ntfy converts longer ones to files.
	MaxText = 1000
	// MaxData bounds Data, in bytes.
	MaxData = 16 << 10
	// Timeout bounds one attempt.
	Timeout = 10 * time.Second
)

// CheckURL returns an error for a URL that notices cannot be posted to.
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

// format returns the format, with Auto resolved.
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

// RejectedError is a permanent rejection of a notice.
type RejectedError struct{ Reason string }

// Error returns the reason.
func (e *RejectedError) Error() string { return e.Reason }

// RetryError is a temporary failure. RetryAfter is how long the host asked to wait; 0 if it gave no time.
type RetryError struct {
	Reason     string
	RetryAfter time.Duration
}

// Error returns the reason.
func (e *RetryError) Error() string { return e.Reason }

// Post makes one attempt to post a notice. id is the same in each attempt. dropped is how many notices were dropped
// before this one. Errors are a *RejectedError or *RetryError, and have only the host of the URL.
func Post(ctx context.Context, client *http.Client, n *Notice, id string, dropped int) error {
	req, err := n.request(ctx, id, dropped)
	if err != nil {
		return &RejectedError{err.Error()}
	}
	if client == nil {
		client = Client()
	}
	host := req.URL.Host
	resp, err := client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) { // its text has the whole URL
			err = u.Err
		}
		return &RetryError{Reason: fmt.Sprintf("webhook: %s: %v", host, err)}
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be reused
	switch s := resp.StatusCode; {
	case s < 300:
		return nil
	case s < 400:
		return &RejectedError{fmt.Sprintf("webhook: %s sends elsewhere (%s), which is not followed: give the address that it sends to", host, resp.Status)}
	case s >= 500, s == http.StatusTooManyRequests, s == http.StatusRequestTimeout, s == http.StatusTooEarly:
		return &RetryError{Reason: fmt.Sprintf("webhook: %s answered %s", host, resp.Status), RetryAfter: retryAfter(resp.Header.Get("Retry-After"))}
	}
	return &RejectedError{fmt.Sprintf("webhook: %s answered %s", host, resp.Status)}
}

// retryAfter parses a Retry-After header in seconds.
func retryAfter(text string) time.Duration {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(min(n, int(maxBackoff/time.Second))) * time.Second
}

// request returns the HTTP request that posts the notice.
func (n *Notice) request(ctx context.Context, id string, dropped int) (*http.Request, error) {
	body, err := n.body(id, dropped)
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
	req.Header.Set("X-Sequence-ID", id) // a repeated notice replaces the first
	if tag := tags[n.Event]; tag != "" {
		req.Header.Set("Tags", tag)
	}
	if n.Urgent {
		req.Header.Set("Priority", "high")
	}
	return req, nil
}

// tags are the ntfy tags of events, shown as signs before the title.
var tags = map[string]string{
	"finished": "white_check_mark", "failed": "x", "input": "question", "approval": "lock",
}

// body returns the request body.
func (n *Notice) body(id string, dropped int) ([]byte, error) {
	text := OneLine(n.Text, MaxText)
	if n.format() == Ntfy {
		if dropped > 0 {
			text += fmt.Sprintf(" (%d earlier notices dropped)", dropped)
		}
		return []byte(text), nil
	}
	fields, err := json.Marshal(struct {
		ID      string    `json:"id"`
		Event   string    `json:"event"`
		Title   string    `json:"title"`
		Text    string    `json:"text"`
		At      time.Time `json:"at"`
		LeftOut int       `json:"left_out,omitempty"`
	}{id, n.Event, OneLine(n.Title, 200), text, n.At, dropped})
	if err != nil {
		return nil, err
	}
	more := bytes.TrimSpace(n.Data)
	if len(more) == 0 || bytes.Equal(more, []byte("{}")) || bytes.Equal(more, []byte("null")) {
		return fields, nil
	}
	if more[0] != '{' || !json.Valid(more) {
		return nil, errors.New("webhook: notice data is not a JSON object")
	}
	return append(append(fields[:len(fields)-1], ','), more[1:]...), nil
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
