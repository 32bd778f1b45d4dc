package respond

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Set is a list of rules with common settings.
type Set struct {
	Rules []Rule `json:"rules"`
	// Ordered makes the rules a sequence: each is awaited only after the one before it was used Max times, or once.
	Ordered bool `json:"ordered,omitempty"`
	// Timeout ends all rules with a failure. 0: none.
	Timeout time.Duration `json:"timeout_ns,omitempty"`
	// Settle is the pause in the output after which an unfinished line is matched.
	// Default 20 ms.
	Settle time.Duration `json:"settle_ns,omitempty"`
	// Grace is how long a secret waits for the echo to be turned off. Default 1 s.
	Grace time.Duration `json:"grace_ns,omitempty"`
	// MaxFirings is the number of firings after which a dialogue counts as a loop and fails. Default 10,000.
	MaxFirings int `json:"max_firings,omitempty"`
}

// Rule is a pattern and the replies for its matches. One of Text and Regexp is set.
type Rule struct {
	Name string `json:"name,omitempty"`
	// Text matches literally, Regexp in RE2's syntax. Both match within one line; $ is the end of the line, or of its
	// part so far.
	Text   string `json:"text,omitempty"`
	Regexp string `json:"regexp,omitempty"`
	// On is the place of the match. Default OnOutput.
	On     Target  `json:"on,omitempty"`
	Region *Region `json:"region,omitempty"` // of OnScreen; nil: everywhere
	Reply  []Reply `json:"reply,omitempty"`

	Max      int           `json:"max,omitempty"`         // times it may be used; 0: no limit
	Timeout  time.Duration `json:"timeout_ns,omitempty"`  // to be used first, from when it is waited for
	CoolDown time.Duration `json:"cooldown_ns,omitempty"` // rest after each use
	Force    bool          `json:"force,omitempty"`       // send secrets even while they are echoed
	// After makes the rule wait until the one before it was used Max times, or once.
	After bool `json:"after,omitempty"`
	// Veiled makes the rule match output with secrets redacted (Engine.SetRedactor). Its author may not see them, and
	// could otherwise guess them by rules.
	Redacted bool `json:"veiled,omitempty"`
	// List names the rules that end together: a failure of one ends those of its list.
	List string `json:"list,omitempty"`
}

// Target is the place where a rule matches.
type Target string

// Targets.
const (
	OnOutput Target = "output" // unread output, complete lines and the unfinished one
	OnPrompt Target = "prompt" // unread output on the unfinished line only
	OnScreen Target = "screen" // rows of the screen, or Region of them
	OnCursor Target = "cursor" // the screen's line with the cursor
)

// Region is a part of the screen, in cells, 0-based. Ends are exclusive, and 0 is the end of the screen.
type Region struct {
	Top    int `json:"top,omitempty"`
	Bottom int `json:"bottom,omitempty"`
	Left   int `json:"left,omitempty"`
	Right  int `json:"right,omitempty"`
}

// Bounds of a Set: larger values are mistakes or attacks.
const (
	maxRules        = 256
	maxPatternBytes = 4096
	maxReplies      = 100
	// maxSteps bounds patterns: the session's owner matches them, and each step costs about 20 ns per byte.
	maxSteps      = 1000 // of one pattern
	maxTotalSteps = 4000 // of all patterns of a set
)

const (
	defaultSettle     = 20 * time.Millisecond
	defaultGrace      = time.Second
	defaultMaxFirings = 10000
)

// withDefaults fills in unset fields.
func (s Set) withDefaults() Set {
	s.Settle = cmp.Or(s.Settle, defaultSettle)
	s.Grace = cmp.Or(s.Grace, defaultGrace)
	s.MaxFirings = cmp.Or(s.MaxFirings, defaultMaxFirings)
	return s
}

// RuleError describes an invalid rule.
type RuleError struct {
	Rule int // index in Set.Rules
	Name string
	Err  error
}

func (e *RuleError) Error() string {
	if e.Name != "" {
		return fmt.Sprintf("rule %d (%s): %v", e.Rule+1, e.Name, e.Err)
	}
	return fmt.Sprintf("rule %d: %v", e.Rule+1, e.Err)
}

func (e *RuleError) Unwrap() error { return e.Err }

// Check returns all errors of a set, joined.
func (s Set) Check() error {
	_, err := compile(s)
	return err
}

// compiled is a compiled set.
type compiled struct {
	Set
	rules    []compiledRule
	filter   *filter
	redacted []int // all rules if one of them is redacted, as the filter works on unredacted text; otherwise nil
}

type compiledRule struct {
	*Rule
	pattern *pattern
	screen  bool
}

func compile(s Set) (*compiled, error) {
	var errs []error
	if len(s.Rules) > maxRules {
		errs = append(errs, fmt.Errorf("%d rules; the most is %d", len(s.Rules), maxRules))
	}
	if min(s.Timeout, s.Settle, s.Grace) < 0 || s.MaxFirings < 0 {
		errs = append(errs, errors.New("a limit is negative"))
	}
	c := &compiled{Set: s.withDefaults()}
	needs, steps := make([][]string, len(s.Rules)), 0
	for i := range s.Rules {
		r := &s.Rules[i]
		p, err := r.compile()
		if err != nil {
			errs = append(errs, &RuleError{i, r.Name, err})
			continue
		}
		needs[i], steps = p.needs, steps+p.steps
		c.rules = append(c.rules, compiledRule{r, p, r.On == OnScreen || r.On == OnCursor})
	}
	if steps > maxTotalSteps {
		errs = append(errs, fmt.Errorf("the regexps of all rules are %d steps long, more than %d: repeat less within them, or give texts", steps, maxTotalSteps))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	c.filter = newFilter(needs)
	if slices.ContainsFunc(s.Rules, func(r Rule) bool { return r.Redacted }) {
		for i := range s.Rules {
			c.redacted = append(c.redacted, i)
		}
	}
	return c, nil
}

func (r *Rule) compile() (*pattern, error) {
	switch {
	case min(r.Max, int(r.Timeout), int(r.CoolDown)) < 0:
		return nil, errors.New("a limit is negative")
	case len(r.Reply) > maxReplies:
		return nil, fmt.Errorf("%d replies; the most is %d", len(r.Reply), maxReplies)
	}
	if err := r.checkTarget(); err != nil {
		return nil, err
	}
	p, err := newPattern(r.Text, r.Regexp)
	if err != nil {
		return nil, err
	}
	for i := range r.Reply {
		if err := r.Reply[i].check(p); err != nil {
			return nil, fmt.Errorf("reply %d: %w", i+1, err)
		}
	}
	return p, nil
}

func (r *Rule) checkTarget() error {
	switch r.On {
	case "", OnOutput, OnPrompt, OnCursor:
		if r.Region != nil {
			return fmt.Errorf("a region is for %q only", OnScreen)
		}
	case OnScreen:
		if g := r.Region; g != nil && (min(g.Top, g.Bottom, g.Left, g.Right) < 0 ||
			g.Bottom != 0 && g.Bottom <= g.Top || g.Right != 0 && g.Right <= g.Left) {
			return errors.New("the region is empty")
		}
	default:
		return fmt.Errorf("unknown target %q; there are %s, %s, %s and %s",
			r.On, OnOutput, OnPrompt, OnScreen, OnCursor)
	}
	return nil
}

// label returns the name of a rule for messages.
func (r *Rule) label() string {
	return cmp.Or(r.Name, r.Text, r.Regexp)
}
