package inputdetect

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// minConfidence is the confidence from which on input counts as needed.
const minConfidence = 50

// Bounds of silence as evidence: longer than any usual pause of a program, and than a brief wait.
const (
	// maxRequiredSilence is the longest silence of a program that is required as evidence.
	maxRequiredSilence = 20 * time.Second
	// MaxUsefulSilence is the silence after which more silence changes no verdict.
	MaxUsefulSilence = maxRequiredSilence + 2*briefTimeout
)

// evaluation has the facts, and values derived from them.
type evaluation struct {
	*Evidence
	line              string // end of the text before the cursor (lineEnd)
	promptLine        string // whole line of the prompt: the one before the cursor, or the one above
	isBlank           bool   // the text before the cursor is blank
	kind              Kind
	phraseReason      string // reason of the recognized phrase
	isPrompt          bool   // a phrase was recognized
	looksLikePrompt   bool   // the line ends like a prompt
	hidesInput        bool   // line input without echo
	isRaw             bool   // the program reads keys, not lines
	looksLikeREPL     bool   // the line is the prompt of a program that reads commands
	isKnownREPL       bool   // the program is known to read commands or data at it
	isRelay           bool   // the program waits for the terminal all the time
	looksLikeProgress bool   // the line is a progress display
	backgroundReader  bool   // isBackgroundReader
	isPasswordBox     bool   // the cursor is in a password box
	isBox             bool   // the program shows another box
}

// Classify decides whether a program waits for input, and for which kind.
func Classify(f Evidence) Verdict {
	if shouldProbeRelayed(&f) {
		return relayedVerdict(&f)
	}
	switch {
	case f.Shell == ShellPrompt:
		return Verdict{Kind: Prompt, Confidence: 0, Reason: "the shell reports a prompt"}
	case f.Probe.State == Busy || f.Probe.State == Sleeping:
		return notWaitingVerdict(&f.Probe)
	}
	return classifyWaiting(f)
}

// classifyWaiting classifies a program that may wait. It is separate so that a program that does not wait costs almost
// no allocations.
func classifyWaiting(f Evidence) Verdict {
	s := newEvaluation(&f)
	if s.isShellPrompt() {
		return Verdict{Kind: Prompt, Confidence: 0, Reason: fmt.Sprintf("%s is at its prompt", f.Probe.Program)}
	}
	return s.weigh()
}

// notWaitingVerdict returns the verdict of a program that does not wait for the terminal.
func notWaitingVerdict(r *Result) Verdict {
	v := Verdict{Confidence: 2, Reason: fmt.Sprintf("%s: %s", r.Program, r.Reason)}
	if r.Source < FromSyscall {
		v.Confidence = 10
	}
	return v
}

// newEvaluation derives the values of an evaluation from facts.
func newEvaluation(f *Evidence) *evaluation {
	s := &evaluation{Evidence: f, line: lineEnd(f.Line), promptLine: f.Line}
	s.isBlank = strings.TrimSpace(s.line) == ""
	if m := f.Modes; m != nil {
		s.hidesInput = m.Canonical && !m.Echo
		s.isRaw = !m.Canonical
		if f.Probe.State == Reading && m.ReadTimeout > 0 { // equivalent to a wait with a timeout
			f.Probe.State, f.Probe.Timeout = Polling, m.ReadTimeout
		}
	}
	s.isRelay = relayPrograms[f.Probe.Program] && !f.promptsItself()
	s.backgroundReader = isBackgroundReader(f)
	p, found := findPhrase(s.line)
	if !found && s.isBlank && len(f.Above) > 0 {
		above := f.Above[len(f.Above)-1]
		if last := lineEnd(above); questionLine.MatchString(last) && !showsKeyHelp(f.Above) {
			p, found, s.promptLine = phrase{kind: Confirm, reason: "asked on the line above"}, true, above
		}
	}
	s.isPrompt, s.kind, s.phraseReason = found, p.kind, p.reason
	if words := passwordBoxText(f); words != "" {
		s.isPrompt, s.kind, s.phraseReason, s.promptLine, s.isPasswordBox = true, Password, "shows a password box", cmp.Or(boxText(f), words), true
	} else if kind, words := classifyBox(f); kind != None {
		s.isPrompt, s.kind, s.phraseReason, s.promptLine, s.isBox = true, kind, "shows a box", words, true
	}
	filter := s.isSilentFilter()
	s.isKnownREPL = s.isREPLPrompt() || s.readsKeysInBackground(f.Above) || filter
	s.looksLikeREPL = s.isKnownREPL || replPrompt.MatchString(s.line)
	s.looksLikePrompt = promptEnd.MatchString(s.line) || s.looksLikeREPL && !filter
	s.findKind()
	s.looksLikeProgress = !s.isPrompt && !s.looksLikeREPL && progressLine.MatchString(s.line)
	return s
}

// findKind determines the kind by more than the cursor's line.
func (s *evaluation) findKind() {
	switch {
	case s.kind == Password, s.isBox:
	case s.hidesInput && s.kind != Confirm:
		s.kind = Password
	case s.AltScreen:
		if s.kind != Confirm {
			s.kind = Screen
		}
	case s.kind == None && s.looksLikeREPL: // even if it printed a question before
		s.kind = Text
	case s.kind == None && (s.isRaw || s.Modes == nil) && hasArrowMenu(s.Evidence):
		s.kind, s.isPrompt, s.phraseReason = Menu, true, "marks one of the choices shown"
	case s.kind == None && s.looksLikePrompt && hasNumberedList(s.Above):
		s.kind, s.isPrompt, s.phraseReason = Menu, true, "follows a numbered list"
	case s.kind == None && s.looksLikePrompt && menuWords.MatchString(s.line) && len(s.Above) > 0 && numberedChoice.MatchString(s.Above[len(s.Above)-1]):
		s.kind, s.isPrompt, s.phraseReason = Menu, true, "prompts for a choice"
	case s.kind == None && s.looksLikePrompt && s.hasYesAbove():
		s.kind, s.isPrompt, s.phraseReason = Confirm, true, "wants the word yes"
	case s.kind == None && s.isPagerPrompt():
		s.kind, s.isPrompt, s.phraseReason = Screen, true, "is a pager's prompt"
	case s.kind == None && (s.Mouse || s.AppCursor && s.isRaw && !s.looksLikePrompt && !s.BracketedPaste):
		s.kind = Screen
	case s.kind == None:
		s.kind = Text
	}
}

// hasYesAbove reports whether a row above lists yes as an accepted answer.
func (s *evaluation) hasYesAbove() bool {
	for _, l := range s.Above[max(0, len(s.Above)-4):] {
		if yesLine.MatchString(lineEnd(l)) {
			return true
		}
	}
	return false
}

// isPagerPrompt reports whether a pager waits for a key.
func (s *evaluation) isPagerPrompt() bool {
	return pagers[s.Probe.Program] && (s.isRaw || pagerPrompt.MatchString(s.line))
}

// isShellPrompt reports whether a shell without marks waits for a command. While marks report a running command, it is
// that command: a shell in the shell. The shell that prints the marks reads for its own builtins then, unless it got a
// prompt without marks.
func (s *evaluation) isShellPrompt() bool {
	if s.Probe.State != Reading && s.Probe.State != Polling {
		return false
	}
	if s.isRelay {
		return !s.isPrompt && remotePrompt.MatchString(s.line)
	}
	if isLeader := s.Leader != 0 && s.Probe.PID == s.Leader; isLeader && s.Shell == ShellRunning {
		return s.HasNewPrompt
	}
	if !shells[s.Probe.Program] || s.isPrompt || s.Probe.RunsScript {
		return false
	}
	if fishReadPrompt.MatchString(s.line) {
		return false
	}
	// The line editors of shells read keys. Shells without one read lines, and so does their read command.
	if s.isRaw || s.BracketedPaste {
		return shellPromptEnd.MatchString(s.line) || s.BracketedPaste && !s.looksLikePrompt
	}
	return plainShells[s.Probe.Program] && plainShellPrompt.MatchString(s.line)
}

// weigh adds the weights for and against waiting.
func (s *evaluation) weigh() Verdict {
	v := Verdict{Kind: s.kind}
	var reasons []string
	for i := range weights {
		w := &weights[i]
		if w.applies(s) {
			v.Confidence += w.percent
			if w.reason != "" {
				reasons = append(reasons, w.reason)
			}
		}
	}
	if s.phraseReason != "" {
		reasons = append(reasons, "the text "+s.phraseReason)
	}
	v.Confidence = min(99, max(1, v.Confidence))
	if s.mayBeWorking() && !s.promptPersists() {
		v.Confidence = min(v.Confidence, minConfidence/2)
	}
	v.NeedsInput = v.Confidence >= minConfidence
	if !v.NeedsInput {
		v.Kind = None
	}
	v.IsREPL = v.Kind == Text && s.isKnownREPL
	v.IsPasswordBox = v.Kind == Password && s.isPasswordBox
	if p := s.Probe.Program; p != "" {
		v.Reason = p + ": "
	}
	v.Reason += strings.Join(reasons, "; ")
	if v.NeedsInput && s.kind != Screen && !s.looksLikeREPL && strings.TrimSpace(s.promptLine) != "" {
		v.Reason += `: "` + s.quotedPrompt() + `"`
	}
	return v
}

// PromptText returns the prompt quoted in a verdict's reason, or "".
func PromptText(reason string) string {
	_, words, _ := strings.Cut(reason, `: "`)
	return strings.TrimSuffix(words, `"`)
}

// maxPromptText bounds the quoted prompt in a reason, in bytes.
const maxPromptText = 200

// quotedPrompt returns the end of the prompt, which lists the possible answers. Secrets are masked before the text is
// cut: a cut secret would not be recognized.
func (s *evaluation) quotedPrompt() string {
	text := s.promptLine
	if s.Redact != nil {
		text = s.Redact(text)
	}
	if text = strings.TrimSpace(text); len(text) > maxPromptText {
		return "…" + lastBytes(text, maxPromptText)
	}
	return text
}

// isSilentLongEnough reports whether the silence is long enough to be evidence if nothing better is known: longer than
// this program's usual pauses.
func (s *evaluation) isSilentLongEnough() bool {
	least := time.Second
	switch {
	case s.isPrompt && s.isOtherUsers() && !s.hidesInput:
		least = 3 * time.Second // as for a program behind a relay
	case s.isPrompt:
		least = 300 * time.Millisecond
	}
	return s.Silence >= max(least, min(3*s.UsualSilence, maxRequiredSilence))
}
