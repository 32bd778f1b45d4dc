package inputdetect

import (
	"fmt"
	"strings"
	"time"
)

// needed is the least confidence with which input counts as needed.
const needed = 50

// SilenceTells is the silence after which more silence changes no verdict: longer than any usual pause of a program,
// and than a brief wait.
const (
	maxRequiredSilence = 20 * time.Second // longest silence of a program that is required as evidence
	SilenceTells       = maxRequiredSilence + 2*briefTimeout
)

// scene holds the facts and values derived from them.
type scene struct {
	*Facts
	line   string // the end of the text before the cursor
	asked  string // the whole line that asks: the one before the cursor, or the one above
	empty  bool   // the text before the cursor is empty
	kind   Kind
	what   string // of a phrase that was recognized
	asks   bool   // a phrase was recognized
	like   bool   // at least it ends like a prompt
	hidden bool   // line input without echo
	raw    bool   // keys, not lines
	repl   bool   // it is the prompt of a program that takes commands
	own    bool   // and the program is known to have it
	relay  bool   // the program always waits for the terminal
	works  bool   // the line looks like progress
	parked bool   // the wait continues whether or not the program has a prompt
	box    bool   // it is a password box
}

// Classify decides whether a program waits for input, and for which kind.
func Classify(f Facts) Verdict {
	if shouldProbeRelayed(&f) {
		return relayedVerdict(&f)
	}
	switch {
	case f.Shell == ShellPrompt:
		return Verdict{Kind: Prompt, Confidence: 0, Reason: "the shell reports a prompt"}
	case f.Probe.State == Busy || f.Probe.State == Sleeping:
		return notWaiting(&f.Probe)
	}
	return judge(f)
}

// judge classifies a program that may wait. It is separate so that a program that does not wait costs almost no
// allocations.
func judge(f Facts) Verdict {
	s := newScene(&f)
	if s.shellPrompt() {
		return Verdict{Kind: Prompt, Confidence: 0, Reason: fmt.Sprintf("%s is at its prompt", f.Probe.Program)}
	}
	return s.weigh()
}

func notWaiting(r *Result) Verdict {
	v := Verdict{Confidence: 2, Reason: fmt.Sprintf("%s: %s", r.Program, r.Why)}
	if r.Source < FromCall {
		v.Confidence = 10
	}
	return v
}

func newScene(f *Facts) *scene {
	s := &scene{Facts: f, line: tail(f.Line), asked: f.Line}
	s.empty = strings.TrimSpace(s.line) == ""
	if m := f.Modes; m != nil {
		s.hidden = m.Canonical && !m.Echo
		s.raw = !m.Canonical
		if f.Probe.State == Reading && m.Limit > 0 { // as good as a wait with a limit
			f.Probe.State, f.Probe.Timeout = Polling, m.Limit
		}
	}
	s.relay = relays[f.Probe.Program] && !f.promptsItself()
	s.parked = isParked(f)
	p, asks := ask(s.line)
	if !asks && s.empty && len(f.Above) > 0 {
		above := f.Above[len(f.Above)-1]
		if last := tail(above); wholeLine.MatchString(last) && !showsKeyHelp(f.Above) {
			p, asks, s.asked = phrase{kind: Confirm, what: "asked on the line above"}, true, above
		}
	}
	s.asks, s.kind, s.what = asks, p.kind, p.what
	if words := passwordBox(f); words != "" {
		s.asks, s.kind, s.what, s.asked, s.box = true, Password, "shows a password box", words, true
	}
	s.own = s.isRepl() || s.readsKeysInBackground(f.Above)
	s.repl = s.own || replPrompt.MatchString(s.line)
	s.like = promptEnd.MatchString(s.line) || s.repl
	s.findKind()
	s.works = !s.asks && !s.repl && progress.MatchString(s.line)
	return s
}

// findKind decides between the kinds by more than the cursor's line.
func (s *scene) findKind() {
	switch {
	case s.kind == Password:
	case s.hidden && s.kind != Confirm:
		s.kind = Password
	case s.AltScreen:
		if s.kind != Confirm {
			s.kind = Screen
		}
	case s.kind == None && s.repl: // also if it printed a question before
		s.kind = Text
	case s.kind == None && (s.raw || s.Modes == nil) && arrowMenu(s.Facts):
		s.kind, s.asks, s.what = Menu, true, "marks one of the choices shown"
	case s.kind == None && s.like && numberedAbove(s.Above):
		s.kind, s.asks, s.what = Menu, true, "follows a numbered list"
	case s.kind == None && s.like && menuWords.MatchString(s.line) && len(s.Above) > 0 && numbered.MatchString(s.Above[len(s.Above)-1]):
		s.kind, s.asks, s.what = Menu, true, "prompts for a choice"
	case s.kind == None && s.like && s.yesAbove():
		s.kind, s.asks, s.what = Confirm, true, "wants the word yes"
	case s.kind == None && s.pager():
		s.kind, s.asks, s.what = Screen, true, "is a pager's prompt"
	case s.kind == None && (s.Mouse || s.AppCursor && s.raw && !s.like && !s.BracketedPaste):
		s.kind = Screen
	case s.kind == None:
		s.kind = Text
	}
}

func (s *scene) yesAbove() bool {
	for _, l := range s.Above[max(0, len(s.Above)-4):] {
		if aboveYes.MatchString(tail(l)) {
			return true
		}
	}
	return false
}

func (s *scene) pager() bool {
	return pagers[s.Probe.Program] && (s.raw || pagerEnd.MatchString(s.line))
}

// shellPrompt reports whether a shell without marks waits for a command. While marks report a running command, it is
// that command: a shell in the shell. The shell that prints the marks reads for its own builtins then, unless it got a
// prompt without marks.
func (s *scene) shellPrompt() bool {
	if s.Probe.State != Reading && s.Probe.State != Polling {
		return false
	}
	if s.relay {
		return !s.asks && remotePrompt.MatchString(s.line)
	}
	if own := s.Leader != 0 && s.Probe.PID == s.Leader; own && s.Shell == ShellRunning {
		return s.NewPrompt
	}
	if !shells[s.Probe.Program] || s.asks || s.Probe.Script {
		return false
	}
	if readPrompt.MatchString(s.line) {
		return false
	}
	// The line editors of shells read keys. Shells without one read lines, and so does their read command.
	if s.raw || s.BracketedPaste {
		return shellEnd.MatchString(s.line) || s.BracketedPaste && !s.like
	}
	return plainShells[s.Probe.Program] && plainPrompt.MatchString(s.line)
}

// weigh adds the weights for and against waiting.
func (s *scene) weigh() Verdict {
	v := Verdict{Kind: s.kind}
	var reasons []string
	for i := range weights {
		w := &weights[i]
		if w.holds(s) {
			v.Confidence += w.points
			if w.why != "" {
				reasons = append(reasons, w.why)
			}
		}
	}
	if s.what != "" {
		reasons = append(reasons, "the text "+s.what)
	}
	v.Confidence = min(99, max(1, v.Confidence))
	if s.mayBeAtWork() && !s.promptPersists() {
		v.Confidence = min(v.Confidence, needed/2)
	}
	v.Needs = v.Confidence >= needed
	if !v.Needs {
		v.Kind = None
	}
	v.Repl = v.Kind == Text && s.own
	v.Box = v.Kind == Password && s.box
	if p := s.Probe.Program; p != "" {
		v.Reason = p + ": "
	}
	v.Reason += strings.Join(reasons, "; ")
	if v.Needs && s.kind != Screen && !s.repl && strings.TrimSpace(s.asked) != "" {
		v.Reason += `: "` + s.quotedPrompt() + `"`
	}
	return v
}

// Words returns the prompt's words in a verdict's reason, or "".
func Words(reason string) string {
	_, words, _ := strings.Cut(reason, `: "`)
	return strings.TrimSuffix(words, `"`)
}

// maxWords bounds the words of a prompt in a reason, in bytes.
const maxWords = 200

// quotedPrompt returns the end of the prompt, which lists the possible answers. Secrets are masked before the text is
// cut: a cut one would not be recognized.
func (s *scene) quotedPrompt() string {
	text := s.asked
	if s.Shown != nil {
		text = s.Shown(text)
	}
	if text = strings.TrimSpace(text); len(text) > maxWords {
		return "…" + lastBytes(text, maxWords)
	}
	return text
}

// quietEnough reports whether the silence is long enough to be evidence if nothing better is known: longer than this
// program's usual pauses.
func (s *scene) quietEnough() bool {
	least := time.Second
	switch {
	case s.asks && s.foreign() && !s.hidden:
		least = 3 * time.Second // as for what a relay may hide
	case s.asks:
		least = 300 * time.Millisecond
	}
	return s.Quiet >= max(least, min(3*s.Rhythm, maxRequiredSilence))
}
