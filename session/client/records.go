//go:build unix

package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"

	"github.com/longterm-dev/longterm/session/api"
)

// Records reads a part of a session's history.
type Records struct {
	body     io.ReadCloser
	decoder  *json.Decoder
	hasEnded bool // the last record was read
}

// Records returns history between two moments (offset, time, -5m, +90s); empty means the start and the end. The first
// record is the initial screen.
func (s *Session) Records(ctx context.Context, from, to string) (*Records, error) {
	q := url.Values{}
	if from != "" {
		q.Set("from", from)
	}
	if to != "" {
		q.Set("to", to)
	}
	resp, err := s.client.do(ctx, "GET", s.path+"/records", s.addReveal(q), nil)
	if err != nil {
		return nil, err
	}
	return &Records{body: resp.Body, decoder: json.NewDecoder(resp.Body)}, nil
}

// Next returns the next record; io.EOF after the last one.
func (r *Records) Next() (api.Record, error) {
	var rec api.Record
	if r.hasEnded {
		return rec, io.EOF
	}
	if err := r.decoder.Decode(&rec); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return rec, fmt.Errorf("history broke off; read it again: %w", err)
	}
	if rec.Kind == "end" {
		r.hasEnded = true
		return rec, io.EOF
	}
	return rec, nil
}

// Close stops reading.
func (r *Records) Close() error { return r.body.Close() }

// Prune deletes history that exceeds a budget.
func (c *Client) Prune(ctx context.Context, p api.Prune) (api.Pruned, error) {
	return send[api.Pruned](ctx, c, "POST", "/prune", nil, p)
}

// SearchQuery selects lines that match all of its set fields.
type SearchQuery struct {
	Text, Regexp  string
	Words         []string
	CaseSensitive bool
	Session       string // id, name or prefix; empty for all
	Since, Until  string // times, or -2h
	Limit         int
	Before        string // Found.Next of the page before
}

// Search searches the output of sessions.
func (c *Client) Search(ctx context.Context, q SearchQuery) (api.Found, error) {
	v := url.Values{}
	for name, value := range map[string]string{
		"text": q.Text, "regexp": q.Regexp, "session": q.Session, "since": q.Since, "until": q.Until, "before": q.Before,
	} {
		if value != "" {
			v.Set(name, value)
		}
	}
	for _, w := range q.Words {
		v.Add("word", w)
	}
	if q.CaseSensitive {
		v.Set("case", "true")
	}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return get[api.Found](ctx, c, "/search", v)
}

// CommandQuery selects commands.
type CommandQuery struct {
	Session         string // id, name or prefix; empty for all
	Text            string // contained in the command line
	Failed, Running bool
	Limit           int // the newest Limit
}

// Commands returns commands that shells ran, oldest first.
func (c *Client) Commands(ctx context.Context, q CommandQuery) ([]api.Command, error) {
	v := url.Values{}
	if q.Session != "" {
		v.Set("session", q.Session)
	}
	if q.Text != "" {
		v.Set("text", q.Text)
	}
	if q.Failed {
		v.Set("failed", "true")
	}
	if q.Running {
		v.Set("running", "true")
	}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return get[[]api.Command](ctx, c, "/commands", v)
}
