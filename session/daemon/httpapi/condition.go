//go:build unix

package httpapi

import (
	"regexp"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
)

// condition reads a condition of a request.
func condition(c api.Condition) (session.Cond, error) {
	cond := session.Cond{Kind: session.CondKind(c.Kind), Text: c.Text, Off: c.Off, Percent: c.Percent, Row: -1, Col: -1}
	if c.Pattern != "" {
		re, err := regexp.Compile(c.Pattern)
		if err != nil {
			return cond, api.Errorf(api.CodeInvalid, "pattern %q: %v", c.Pattern, err).WithHint("RE2 syntax, see https://pkg.go.dev/regexp/syntax")
		}
		cond.Regexp = re
	}
	switch cond.Kind {
	case session.CondText:
		cond.Regexp = nil
		if c.Text == "" {
			return cond, api.Errorf(api.CodeInvalid, "a text condition needs a text")
		}
	case session.CondRegexp:
		if c.Pattern == "" {
			return cond, api.Errorf(api.CodeInvalid, "a regexp condition needs a pattern")
		}
	case session.CondGone:
		if c.Text == "" && c.Pattern == "" {
			return cond, api.Errorf(api.CodeInvalid, "a gone condition needs a text or a pattern")
		}
	case session.CondQuiet:
		cond.Quiet = time.Second
		if c.QuietMS > 0 {
			cond.Quiet = time.Duration(c.QuietMS) * time.Millisecond
		}
	case session.CondProgress:
		if c.Percent == 0 {
			cond.Percent = 100
		}
	case session.CondCursor:
		if c.Row == nil && c.Col == nil {
			return cond, api.Errorf(api.CodeInvalid, "a cursor condition needs a row or a column")
		}
		if c.Row != nil {
			cond.Row = *c.Row
		}
		if c.Col != nil {
			cond.Col = *c.Col
		}
	}
	return cond, nil
}
