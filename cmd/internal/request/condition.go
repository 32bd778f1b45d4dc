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

// Condition reads KIND, KIND=VALUE or KIND:VALUE.
func Condition(s string) (api.Condition, error) {
	kind, value := s, ""
	if i := strings.IndexAny(s, "=:"); i >= 0 {
		kind, value = s[:i], s[i+1:]
	}
	c := api.Condition{Kind: kind}
	switch kind {
	case "text":
		c.Text = value
		return c, isText(s, value)
	case "regexp", "regex", "re":
		c.Kind, c.Pattern = "regexp", value
		return c, isPattern(s, value)
	case "gone":
		if re, ok := strings.CutPrefix(value, "re="); ok {
			c.Pattern = re
			return c, isPattern(s, re)
		}
		c.Text = value
		return c, isText(s, value)
	case "exit", "prompt", "bell":
	case "command", "command-end":
		c.Kind = "command"
	case "title":
		c.Text = value
	case "input":
		if value != "" && !slices.Contains([]string{"password", "confirm", "menu", "text", "screen", "prompt"}, value) {
			return c, exit.Usagef("condition %q: kinds of input are password, confirm, menu, text, screen and prompt", s)
		}
		c.Text = value
	case "agent":
		if value != "" && !slices.Contains([]string{"working", "needs_input", "needs_approval", "done", "idle", "unknown"}, value) {
			return c, exit.Usagef("condition %q: states of agents are working, needs_input, needs_approval, done, idle and unknown", s)
		}
		c.Text = value
	case "fullscreen":
		if value != "" && value != "on" && value != "off" {
			return c, exit.Usagef("condition %q: say fullscreen, fullscreen=on or fullscreen=off", s)
		}
		c.Off = value == "off"
	case "progress":
		if value == "" {
			break
		}
		n, err := strconv.Atoi(strings.TrimSuffix(value, "%"))
		if err != nil || n < 0 || n > 100 {
			return c, exit.Usagef("condition %q: a progress is a percentage, 0 to 100", s)
		}
		c.Percent = n
	case "cursor":
		row, col, _ := strings.Cut(value, ",")
		for i, text := range []string{row, col} {
			to := []**int{&c.Row, &c.Col}[i]
			if n, err := strconv.Atoi(text); err == nil {
				*to = &n
			} else if text != "" {
				return c, exit.Usagef("condition %q: a cursor is ROW,COL from 0, either may be left out", s)
			}
		}
		if c.Row == nil && c.Col == nil {
			return c, exit.Usagef("condition %q: a cursor is ROW,COL from 0; give one of them at least", s)
		}
	case "quiet":
		if value == "" {
			break
		}
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return c, exit.Usagef("condition %q: %q is no duration, as in 500ms or 2s", s, value)
		}
		c.QuietMS = max(1, d.Milliseconds())
	default:
		return c, exit.Usagef("unknown condition %q; see `longterm wait --help`", s)
	}
	return c, nil
}

// isText says what is wrong with a condition's text, isPattern with its pattern. The daemon would say it, too, but only
// once there is a session to wait for.
func isText(condition, text string) error {
	if text == "" {
		return exit.Usagef("condition %q: it needs a text, as in %s=ready", condition, strings.TrimRight(condition, "=:"))
	}
	return nil
}

func isPattern(condition, re string) error {
	if re == "" {
		return exit.Usagef("condition %q: it needs a pattern, as in %s=ready|done", condition, strings.TrimRight(condition, "=:"))
	}
	if _, err := pattern.Compile(re); err != nil {
		return exit.Usagef("condition %.80q: %v; see https://pkg.go.dev/regexp/syntax", condition, err)
	}
	return nil
}
