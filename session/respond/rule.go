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
	// Ordered makes the rules a sequence: a rule becomes active after the rule before it has matched Max times (at
	// least once).
	Ordered bool `json:"ordered,omitempty"`
	// Timeout ends all rules with a failure, counted from the first event. 0 means no limit.
	Timeout time.Duration `json:"timeout_ns,omitempty"`
	// Settle is the pause in the output after which an unfinished line is matched.
	// Default 20 ms.
	Settle time.Duration `json:"settle_ns,omitempty"`
	// EchoOffGrace is how long a secret waits until the terminal disables echo. Default 1 s.
	EchoOffGrace time.Duration `json:"grace_ns,omitempty"`
	// MaxMatches is the number of matches after which the engine assumes a loop and fails the list of the last rule.
	// Default 10,000.
	MaxMatches int `json:"max_firings,omitempty"`
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
	Region *Region `json:"region,omitempty"` // part of the screen, for OnScreen; nil: the whole screen
	Reply  []Reply `json:"reply,omitempty"`

	Max      int           `json:"max,omitempty"`         // matches after which the rule is inactive; 0: no limit
	Timeout  time.Duration `json:"timeout_ns,omitempty"`  // time from activation to the first match, after which the list fails; 0: none
	CoolDown time.Duration `json:"cooldown_ns,omitempty"` // inactive time after each match
	Force    bool          `json:"force,omitempty"`       // send secrets even while they are echoed
	// AfterPrevious makes the rule inactive until the rule before it has matched Max times (at least once).
	AfterPrevious bool `json:"after,omitempty"`
	// Redacted makes the rule match output with secrets redacted (Engine.SetRedactor). The rule's author may not see
	// secrets, and could otherwise guess them by patterns.
	Redacted bool `json:"veiled,omitempty"`
	// List names the rules that end together: a failure of one ends those of its list.
	List string `json:"list,omitempty"`
}

// Target is the place where a rule matches.
type Target string

// Targets.
const (
	OnOutput Target = "output" // unread output: complete lines and the unfinished line
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

// Bounds of a Set. Larger sets are rejected: the session's owner goroutine runs the patterns.
const (
	maxRules        = 256
	maxPatternBytes = 4096
	maxRuleReplies  = 100
	// maxSteps bounds the work of a pattern per byte: a step costs about 20 ns.
	maxSteps      = 1000 // of one pattern
	maxTotalSteps = 4000 // of all patterns of a set
)

const (
	defaultSettle       = 20 * time.Millisecond
	defaultEchoOffGrace = time.Second
	defaultMaxMatches   = 10000
)

// withDefaults fills in unset fields.
func (s Set) withDefaults() Set {
	s.Settle = cmp.Or(s.Settle, defaultSettle)
	s.EchoOffGrace = cmp.Or(s.EchoOffGrace, defaultEchoOffGrace)
	s.MaxMatches = cmp.Or(s.MaxMatches, defaultMaxMatches)
	return s
}

// RuleError describes an invalid rule.
type RuleError struct {
	Rule int // index in Set.Rules
	Name string
	Err  error
}

// Error returns the message, with the 1-based number and name of the rule.
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

// compiledSet is a Set with compiled patterns and the prefilter over their literals.
type compiledSet struct {
	Set
	rules  []compiledRule
	filter *literalFilter
	// redacted has the indices of all rules if a rule is redacted, because the filter searches unredacted text.
	// Otherwise nil.
	redacted []int
}

// compiledRule is a rule with its compiled pattern.
type compiledRule struct {
	*Rule
	pattern       *pattern
	matchesScreen bool // it matches the screen, not the output
}

// compile checks a set and compiles its patterns. It returns all errors, joined.
func compile(s Set) (*compiledSet, error) {
	var errs []error
	if len(s.Rules) > maxRules {
		errs = append(errs, fmt.Errorf("%d rules; the most is %d", len(s.Rules), maxRules))
	}
	if min(s.Timeout, s.Settle, s.EchoOffGrace) < 0 || s.MaxMatches < 0 {
		errs = append(errs, errors.New("a limit is negative"))
	}
	c := &compiledSet{Set: s.withDefaults()}
	needs, steps := make([][]string, len(s.Rules)), 0
	for i := range s.Rules {
		r := &s.Rules[i]
		p, err := r.compile()
		if err != nil {
			errs = append(errs, &RuleError{i, r.Name, err})
			continue
		}
		needs[i], steps = p.required, steps+p.steps
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

// compile checks a rule and compiles its pattern.
func (r *Rule) compile() (*pattern, error) {
	switch {
	case min(r.Max, int(r.Timeout), int(r.CoolDown)) < 0:
		return nil, errors.New("a limit is negative")
	case len(r.Reply) > maxRuleReplies:
		return nil, fmt.Errorf("%d replies; the most is %d", len(r.Reply), maxRuleReplies)
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

// checkTarget returns an error for an unknown target or an invalid region.
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

// displayName returns the name of a rule for messages: its name or its pattern.
func (r *Rule) displayName() string {
	return cmp.Or(r.Name, r.Text, r.Regexp)
}
