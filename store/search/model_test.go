package search

import (
	"context"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"
)

// model is the expected content of the index: the lines themselves.
type model map[string][]Line

// find returns the expected result of a search, newest first.
func (m model) find(q Query) (list []Hit) {
	for session, lines := range m {
		for _, l := range lines {
			c := Cursor{l.Time.UnixNano(), session, l.From}
			switch {
			case q.Session != "" && q.Session != session, q.Within != nil && !q.Within(session), q.Command != 0 && q.Command != l.Command,
				!q.Since.IsZero() && l.Time.Before(q.Since), !q.Until.IsZero() && !l.Time.Before(q.Until),
				q.Before != Cursor{} && c.compare(q.Before) >= 0, !matches(q, l.Text):
				continue
			}
			list = append(list, Hit{Session: session, From: l.From, To: l.To, Time: l.Time, Command: l.Command, Text: l.Text})
		}
	}
	slices.SortFunc(list, func(a, b Hit) int {
		if !a.Time.Equal(b.Time) {
			return b.Time.Compare(a.Time)
		}
		if a.Session != b.Session {
			return strings.Compare(b.Session, a.Session)
		}
		return int(b.From) - int(a.From)
	})
	if q.Limit > 0 && len(list) > q.Limit {
		list = list[:q.Limit]
	}
	return list
}

// matches is written as plainly as can be.
func matches(q Query, text string) bool {
	if q.Text != "" && !contains(text, q.Text, q.CaseSensitive, false) {
		return false
	}
	for _, w := range q.Words {
		if !contains(text, w, q.CaseSensitive, true) {
			return false
		}
	}
	flags := "(?i)"
	if q.CaseSensitive {
		flags = ""
	}
	return q.Regexp == "" || regexp.MustCompile(flags+q.Regexp).MatchString(text)
}

func contains(text, part string, sensitive, word bool) bool {
	runes, want := []rune(text), []rune(part)
	letter := func(i int) bool {
		return i >= 0 && i < len(runes) && (runes[i] == '_' || unicode.In(runes[i], unicode.L, unicode.M, unicode.Nd))
	}
	for i := 0; i+len(want) <= len(runes); i++ {
		got := string(runes[i : i+len(want)])
		if (got == part || !sensitive && strings.EqualFold(got, part)) && !(word && (letter(i-1) || letter(i+len(want)))) {
			return true
		}
	}
	return false
}

// check compares a search with the model, and the hits' ranges with their text.
func (m model) check(t *testing.T, x *Index, q Query) {
	t.Helper()
	want, got := m.find(q), all(t, x, q)
	for i := range got {
		checkRanges(t, q, &got[i])
		got[i].Matches = nil
	}
	if len(got) != len(want) {
		t.Fatalf("%+v: %d hits, want %d\n%v\n%v", q, len(got), len(want), got, want)
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("%+v: hit %d of %d\n%+v\nwant\n%+v", q, i, len(got), got[i], want[i])
		}
	}
}

func checkRanges(t *testing.T, q Query, h *Hit) {
	t.Helper()
	end := 0
	for _, r := range h.Matches {
		if r.Start < end || r.End <= r.Start || r.End > len(h.Text) || !utf8.ValidString(h.Text[r.Start:r.End]) {
			t.Fatalf("%+v: ranges %v of %q", q, h.Matches, h.Text)
		}
		end = r.End
	}
	if q.Text == "" || len(q.Words) > 0 || q.Regexp != "" {
		return
	}
	if len(h.Matches) == 0 || !strings.EqualFold(h.Text[h.Matches[0].Start:][:h.Matches[0].End-h.Matches[0].Start], q.Text) {
		t.Fatalf("%+v: ranges %v of %q", q, h.Matches, h.Text)
	}
}

// world makes lines and queries of few letters, so that much matches by chance.
type world struct {
	rnd     *rand.Rand
	model   model
	ends    map[string]uint64
	clock   int64
	forgets int
}

var alphabet = []rune("aabbcdeE:._ kKſsSßöÖ日本K")

func (w *world) text(n int) string {
	r := make([]rune, w.rnd.IntN(n))
	for i := range r {
		r[i] = alphabet[w.rnd.IntN(len(alphabet))]
	}
	return string(r)
}

func (w *world) batch() Batch {
	b := Batch{Session: string(rune('p' + w.rnd.IntN(7)))}
	at := w.ends[b.Session]
	for range w.rnd.IntN(12) {
		w.clock += int64(w.rnd.IntN(3)) * int64(w.rnd.IntN(5)-1) // clocks are set back, too
		at += uint64(w.rnd.IntN(2) * w.rnd.IntN(9))
		l := Line{From: at, To: at + 1 + uint64(w.rnd.IntN(60)), Time: time.Unix(1000, w.clock), Command: w.rnd.IntN(4), Text: w.text(50)}
		at = l.To
		b.Lines = append(b.Lines, l)
	}
	w.ends[b.Session] = at
	return b
}

func (w *world) add(t *testing.T, x *Index) {
	b := w.batch()
	must(t, x.Add(context.Background(), b))
	for _, l := range b.Lines {
		if l.Text != "" {
			w.model[b.Session] = append(w.model[b.Session], l)
		}
	}
}

func (w *world) forget(t *testing.T, x *Index) {
	session := string(rune('p' + w.rnd.IntN(7)))
	if w.forgets++; w.forgets%4 == 0 {
		must(t, x.Forget(context.Background(), session))
		delete(w.model, session)
		delete(w.ends, session)
		return
	}
	offset := w.rnd.Uint64N(w.ends[session] + 1)
	must(t, x.ForgetBefore(context.Background(), session, offset))
	w.model[session] = slices.DeleteFunc(w.model[session], func(l Line) bool { return l.From < offset })
}

var regexps = []string{
	"a.*b", "ab|cd", "(abc|bcd)e?", "[ab]{3}", "a+b", "^a", "e$", `\bk\b`, "[^a-z]s", "kk?", "(?-i:E)a", "日.本", "", "x*", "a{2,}", "sſ", `\.`, ":a|日",
}

func (w *world) query() Query {
	q := Query{CaseSensitive: w.rnd.IntN(3) == 0}
	switch w.rnd.IntN(5) {
	case 0, 1:
		q.Text = w.text(6)
	case 2:
		q.Regexp = regexps[w.rnd.IntN(len(regexps))]
	case 3:
		q.Words = []string{w.text(3), w.text(3)}
		q.Words = slices.DeleteFunc(q.Words, func(s string) bool { return s == "" })
	case 4:
		q.Text, q.Regexp = w.text(3), regexps[w.rnd.IntN(len(regexps))]
	}
	if q.Text == "" && q.Regexp == "" && len(q.Words) == 0 {
		q.Text = "a"
	}
	if w.rnd.IntN(4) == 0 {
		q.Session = string(rune('p' + w.rnd.IntN(8)))
	}
	if n := len(q.Text) % 4; n > 0 { // without another random number: that would change the results of the seeds
		q.Within = func(session string) bool { return int(session[0])%4 != n }
	}
	at := func() time.Time { return time.Unix(1000, w.rnd.Int64N(w.clock+2)) }
	if w.rnd.IntN(4) == 0 {
		q.Since = at()
	}
	if w.rnd.IntN(4) == 0 {
		q.Until = at()
	}
	if w.rnd.IntN(4) == 0 {
		q.Before = Cursor{at().UnixNano(), string(rune('p' + w.rnd.IntN(8))), uint64(w.rnd.IntN(3000))}
	}
	q.Command, q.Limit = max(0, w.rnd.IntN(9)-5), max(0, w.rnd.IntN(20)-10)
	return q
}
