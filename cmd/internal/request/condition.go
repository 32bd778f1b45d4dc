//go:build unix

package request

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/pattern"
)

// Condition parses KIND, KIND=VALUE or KIND:VALUE.
func Condition(s string) (api.Condition, error) {
	kind, value := s, ""
	if i := strings.IndexAny(s, "=:"); i >= 0 {
		kind, value = s[:i], s[i+1:]
	}
	c := api.Condition{Kind: kind}
	switch kind {
	case "text":
		c.Text = value
		return c, checkText(s, value)
	case "regexp", "regex", "re":
		c.Kind, c.Pattern = "regexp", value
		return c, checkPattern(s, value)
	case "gone":
		if re, ok := strings.CutPrefix(value, "re="); ok {
			c.Pattern = re
			return c, checkPattern(s, re)
		}
		c.Text = value
		return c, checkText(s, value)
	case "anomaly":
		if value != "" {
			return c, exit.Usagef("condition %q: anomaly has no value", s)
		}
	case "exit", "prompt", "bell":
	case "command", "command-end":
		c.Kind = "command"
	case "title":
		c.Text = value
	case "input":
		if value != "" && !slices.Contains([]string{"password", "confirm", "menu", "text", "screen", "prompt"}, value) {
			return c, exit.Usagef("condition %q: invalid kind of input; use password, confirm, menu, text, screen or prompt", s)
		}
		c.Text = value
	case "agent":
		if value != "" && !slices.Contains([]string{"working", "needs_input", "needs_approval", "done", "idle", "unknown"}, value) {
			return c, exit.Usagef("condition %q: invalid agent state; use working, needs_input, needs_approval, done, idle or unknown", s)
		}
		c.Text = value
	case "fullscreen":
		if value != "" && value != "on" && value != "off" {
			return c, exit.Usagef("condition %q: invalid; use fullscreen, fullscreen=on or fullscreen=off", s)
		}
		c.Off = value == "off"
	case "progress":
		if value == "" {
			break
		}
		n, err := strconv.Atoi(strings.TrimSuffix(value, "%"))
		if err != nil || n < 0 || n > 100 {
			return c, exit.Usagef("condition %q: invalid percentage; use 0 to 100", s)
		}
		c.Percent = n
	case "port":
		port, ok := api.ParsePort(value)
		if c.Port = port; !ok || strings.HasSuffix(s, "=") {
			return c, exit.Usagef("condition %q: invalid port; use 1 to 65535, or any", s)
		}
	case "cursor":
		row, col, _ := strings.Cut(value, ",")
		for i, text := range []string{row, col} {
			to := []**int{&c.Row, &c.Col}[i]
			if n, err := strconv.Atoi(text); err == nil {
				*to = &n
			} else if text != "" {
				return c, exit.Usagef("condition %q: invalid; use ROW,COL from 0, either may be omitted", s)
			}
		}
		if c.Row == nil && c.Col == nil {
			return c, exit.Usagef("condition %q: ROW and COL missing; use ROW,COL from 0, at least one of them", s)
		}
	case "quiet":
		if value == "" {
			break
		}
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return c, exit.Usagef("condition %q: %q is not a duration such as 500ms or 2s", s, value)
		}
		c.QuietMS = max(1, d.Milliseconds())
	default:
		return c, exit.Usagef("unknown condition %q; see `longterm wait --help`", s)
	}
	return c, nil
}

// checkText returns an error for a condition without text. The daemon checks too, but only once the session exists.
func checkText(condition, text string) error {
	if text == "" {
		return exit.Usagef("condition %q: text missing, as in %s=ready", condition, strings.TrimRight(condition, "=:"))
	}
	return nil
}

// checkPattern returns an error for an invalid pattern.
func checkPattern(condition, re string) error {
	if re == "" {
		return exit.Usagef("condition %q: pattern missing, as in %s=ready|done", condition, strings.TrimRight(condition, "=:"))
	}
	if _, err := pattern.Compile(re); err != nil {
		return exit.Usagef("condition %.80q: %v; see https://pkg.go.dev/regexp/syntax", condition, err)
	}
	return nil
}
