//go:build unix

package httpapi

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/store/search"
)

// searchQuery selects lines of output.
type searchQuery struct {
	Text    string   `query:"text" maxLength:"4096" doc:"text anywhere in the line"`
	Regexp  string   `query:"regexp" doc:"RE2 pattern that matches in the line"`
	Word    []string `query:"word,explode" doc:"whole word in the line"`
	Case    bool     `query:"case" doc:"match upper and lower case"`
	Session string   `query:"session" doc:"id, name, or unique prefix; default: all sessions, running and ended"`
	Command int      `query:"command" minimum:"0" doc:"number of the command that printed it"`
	Since   string   `query:"since" doc:"printed at that time or later: a time, or -2h"`
	Until   string   `query:"until" doc:"printed before that time"`
	Limit   int      `query:"limit" minimum:"0" maximum:"10000" doc:"maximum number, newest first; default 50"`
	Before  string   `query:"before" doc:"continue after the last hit: next of the previous answer"`
}

func (s *Server) searchOutput(ctx context.Context, in *searchQuery) (api.Found, error) {
	found := api.Found{Hits: []api.Hit{}}
	q, err := s.searchFor(in)
	if err != nil {
		return found, err
	}
	if g := grantOf(ctx); g != nil && !g.Whole() {
		q.Within = func(session string) bool { return s.shows(ctx, session) }
	}
	x := s.reg.Index
	if !x.Usable() {
		return found, api.Errorf(api.CodeStorage, "the search index cannot be used").WithHint("see `longterm daemon status`")
	}
	var last search.Cursor
	veil := s.redactorFor(ctx)
	for hit, err := range x.Search(ctx, q) {
		var cut *search.Truncated
		switch {
		case errors.As(err, &cut):
			found.Truncated, found.Next = true, encodeCursor(cut.Before)
			return found, nil
		case errors.Is(err, search.ErrQuery):
			return found, api.Errorf(api.CodeInvalid, "%v", err)
		case err != nil:
			return found, err
		}
		last = hit.Cursor()
		if view := s.hitView(&hit); veil.Empty() || matchesAsShown(&view, veil.RedactText(view.Text)) {
			found.Hits = append(found.Hits, view)
		}
	}
	if len(found.Hits) == q.Limit {
		found.Next = encodeCursor(last)
	}
	return found, nil
}

// matchesAsShown reports whether a hit is also one in its masked text. Other hits would reveal a secret.
func matchesAsShown(h *api.Hit, shown string) bool {
	if len(shown) != len(h.Text) {
		return false
	}
	for _, m := range h.Matches {
		if m[0] < 0 || m[1] > len(shown) || shown[m[0]:m[1]] != h.Text[m[0]:m[1]] {
			return false
		}
	}
	return true
}

func (s *Server) searchFor(in *searchQuery) (search.Query, error) {
	q := search.Query{Text: in.Text, Regexp: in.Regexp, Words: in.Word, CaseSensitive: in.Case, Command: in.Command, Limit: in.Limit}
	if q.Text == "" && q.Regexp == "" && len(q.Words) == 0 {
		return q, api.Errorf(api.CodeInvalid, "nothing to search for").WithHint("give text, regexp or word")
	}
	if _, err := pattern.Compile(in.Regexp); err != nil {
		return q, api.Errorf(api.CodeInvalid, "%v: %v", search.ErrQuery, err)
	}
	if q.Limit == 0 {
		q.Limit = 50
	}
	if in.Session != "" {
		e, err := s.reg.Resolve(in.Session)
		if err != nil {
			return q, err
		}
		q.Session = e.ID()
	}
	now := time.Now()
	for _, bound := range []struct { // both may be the same text
		at string
		to *time.Time
	}{{in.Since, &q.Since}, {in.Until, &q.Until}} {
		if bound.at == "" {
			continue
		}
		m, err := parseTimeref(bound.at, now, now)
		if err != nil || m.time.IsZero() {
			return q, api.Errorf(api.CodeInvalid, "time %q", bound.at).WithHint("give a time (15:04, 2006-01-02 15:04:05) or how long ago (-2h)")
		}
		*bound.to = m.time
	}
	if in.Before == "" {
		return q, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(in.Before)
	if err == nil {
		err = json.Unmarshal(b, &q.Before)
	}
	if err != nil || q.Before == (search.Cursor{}) { // not a position: the search would restart forever
		return q, api.Errorf(api.CodeInvalid, "before %q is not from an answer", in.Before).WithHint("give next of the answer before, as it came")
	}
	return q, nil
}

func encodeCursor(c search.Cursor) string {
	b, _ := json.Marshal(c) // numbers and a string
	return base64.RawURLEncoding.EncodeToString(b)
}

func (s *Server) hitView(hit *search.Hit) api.Hit {
	v := api.Hit{
		Session: hit.Session, From: hit.From, To: hit.To, Time: hit.Time, Command: hit.Command,
		Text: strings.ToValidUTF8(hit.Text, "\uFFFD"), Start: hit.Start, Cut: hit.Cut, Matches: [][2]int{},
	}
	if e := s.reg.ByID(hit.Session); e != nil {
		v.Name = e.Record().Name
	}
	for _, m := range hit.Matches {
		v.Matches = append(v.Matches, [2]int{m.Start, m.End})
	}
	return v
}
