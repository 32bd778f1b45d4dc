package inputdetect

import (
	"time"

	"github.com/longterm-dev/longterm/session/pattern"
)

// weightedEvidence is a fact about the program, with its weight for (positive) or against waiting.
type weightedEvidence struct {
	percent int
	reason  string // part of Verdict.Reason; "": none
	applies func(*evaluation) bool
}

// briefTimeout bounds the timeout of a wait that counts as polling beside other work.
const briefTimeout = time.Second

// weights is the complete table of evidence. The first block is the kernel's evidence: one row applies. The other rows
// add the terminal's settings and text. Text alone cannot replace missing evidence, unless there was silence too.
var weights = []weightedEvidence{
	{90, "reads lines from the terminal", func(s *evaluation) bool { return s.isReading() && !s.isRaw && s.isExact() }},
	{75, "reads keys from the terminal", func(s *evaluation) bool { return s.isReading() && s.isRaw && s.isExact() }},
	{70, "seems to read the terminal", func(s *evaluation) bool { return s.isReading() && !s.isExact() }},
	{75, "waits for the terminal alone", func(s *evaluation) bool {
		return s.isPolling() && !s.hasBriefTimeout() && s.isExact() && s.Probe.OnlyTerminal
	}},
	{62, "waits for the terminal and other things", func(s *evaluation) bool {
		return s.isPolling() && !s.hasBriefTimeout() && s.isExact() && !s.Probe.OnlyTerminal
	}},
	{52, "seems to wait for the terminal and other things", func(s *evaluation) bool { return s.isPolling() && !s.hasBriefTimeout() && !s.isExact() }},
	{38, "looks at the terminal now and then", func(s *evaluation) bool { return s.isPolling() && s.hasBriefTimeout() && s.hasRepeatedWait() }},
	{-60, "looks at the terminal for a moment", func(s *evaluation) bool { return s.isPolling() && s.hasBriefTimeout() && !s.hasRepeatedWait() }},
	{40, "keeps waiting for the terminal while others work", func(s *evaluation) bool { return s.isBackgroundRead() && s.promptPersists() }},
	{5, "keeps waiting for the terminal while others work", func(s *evaluation) bool { return s.isBackgroundRead() && !s.promptPersists() }},
	{40, "relays for a program that cannot be seen", func(s *evaluation) bool { return s.isRelaying() && s.promptPersists() }},
	{5, "relays for a program that cannot be seen", func(s *evaluation) bool { return s.isRelaying() && !s.promptPersists() }},
	{30, "did not run since it was last looked at", func(s *evaluation) bool { return s.isUnknown() && s.Probe.Idle }},
	{15, "nothing is known about the program", func(s *evaluation) bool { return s.isUnknown() && !s.Probe.Idle }},

	{40, "line input without echo", func(s *evaluation) bool { return s.hidesInput }},
	{30, "", func(s *evaluation) bool { return s.isPrompt }}, // the phrase has the reason
	{20, "the line ends like a prompt", func(s *evaluation) bool { return s.looksLikePrompt && !s.isPrompt && !s.looksLikeProgress }},
	{10, "a line editor is active", func(s *evaluation) bool { return s.BracketedPaste && !s.AltScreen }},
	{15, "a full-screen program", func(s *evaluation) bool { return s.kind == Screen }},
	{-10, "a secret would be echoed", func(s *evaluation) bool { return s.kind == Password && s.Modes != nil && s.Modes.Echo }},

	// Against a reader: only that it seems to be at work in another thread.
	{-35, "the line looks like progress", func(s *evaluation) bool {
		return s.looksLikeProgress && s.isReading() && !s.looksLikePrompt && !s.hidesInput && s.kind != Screen
	}},
	{-50, "the line looks like progress", func(s *evaluation) bool {
		return s.looksLikeProgress && !s.isReading() && !s.hidesInput && s.kind != Screen
	}},
	{-50, "a dedicated thread reads, without a prompt", func(s *evaluation) bool {
		return s.isReading() && s.Probe.TID != s.Probe.PID && !s.isPrompt && !s.looksLikePrompt && !s.hidesInput && s.kind != Screen && s.Silence < time.Second
	}},
	// Against programs that may wait for something else.
	{-25, "the cursor is on an empty line", func(s *evaluation) bool {
		return !s.isReading() && s.isBlank && !s.isPrompt && !s.hidesInput && s.kind != Screen
	}},
	{-8, "the line does not end like a prompt", func(s *evaluation) bool {
		return !s.isReading() && !s.isBlank && !s.looksLikePrompt && !s.isPrompt && !s.hidesInput && s.kind != Screen
	}},
	// Without evidence from the kernel, silence decides.
	{20, "silent for long enough", func(s *evaluation) bool { return s.isUnknown() && s.isSilentLongEnough() }},
	{-40, "not silent for long", func(s *evaluation) bool { return s.isUnknown() && !s.isSilentLongEnough() }},
	{-15, "printed just now", func(s *evaluation) bool { return s.isPolling() && !s.isPrompt && s.Silence < 20*time.Millisecond }},
	{8, "silent for long enough", func(s *evaluation) bool { return s.isPolling() && s.isSilentLongEnough() }},
}

// isReading and the methods below classify the wait for the terminal: a read, a wait for several events, a relay's wait, or
// a wait during which other threads work. The weakest decides.
func (s *evaluation) isReading() bool {
	return s.Probe.State == Reading && !s.isRelay && !s.backgroundReader
}
func (s *evaluation) isPolling() bool {
	return !s.backgroundReader && s.Probe.State == Polling && !s.isRelay || s.isWaiting() && s.isRelay && s.AltScreen
}
func (s *evaluation) isRelaying() bool { return s.isWaiting() && s.isRelay && !s.AltScreen }
func (s *evaluation) isBackgroundRead() bool {
	return s.isWaiting() && s.backgroundReader && !s.isRelay
}
func (s *evaluation) isWaiting() bool { return s.Probe.State == Reading || s.Probe.State == Polling }

// mayBeWorking reports whether the program waits for the terminal all the time, or cannot be examined.
func (s *evaluation) mayBeWorking() bool {
	return s.isRelaying() || s.isBackgroundRead() || s.isUnknown() && s.isRelay && s.isRaw && !s.AltScreen
}

// isOtherUsers reports whether the program belongs to another user, so that little of it is visible.
func (s *evaluation) isOtherUsers() bool { return s.isUnknown() && s.Probe.Source == FromSched }
func (s *evaluation) isUnknown() bool    { return s.Probe.State == Unknown }
func (s *evaluation) isExact() bool      { return s.Probe.Source == FromSyscall }

// hasBriefTimeout reports whether the wait has a timeout of at most briefTimeout.
func (s *evaluation) hasBriefTimeout() bool {
	return s.Probe.Timeout >= 0 && s.Probe.Timeout <= briefTimeout
}

// hasRepeatedWait reports whether the program repeated its brief wait without output. Before that it may continue with
// other work.
func (s *evaluation) hasRepeatedWait() bool {
	return s.AltScreen || s.Silence >= s.Probe.Timeout+60*time.Millisecond
}

// promptPersists reports whether a prompt has stayed at the cursor long enough to be a question. Programs that print
// such a text and continue to work do so earlier.
func (s *evaluation) promptPersists() bool {
	least := 5 * time.Second
	switch {
	case s.Answered, !s.isPrompt && !s.looksLikePrompt, s.Probe.Background == BackgroundWorking:
		return false
	case s.isPrompt && s.Probe.Background == BackgroundNone && !s.isRelay:
		least = time.Second
	case s.isPrompt:
		least = 3 * time.Second
	}
	return s.Silence >= max(least, min(3*s.UsualSilence, maxRequiredSilence))
}

// isBackgroundReader reports whether the wait may continue without any prompt: that of a thread that reads keys while
// the program works.
func isBackgroundReader(f *Evidence) bool {
	r := &f.Probe
	switch {
	case r.State != Reading && r.State != Polling, f.AltScreen:
		return false
	case r.Background != BackgroundNone:
		return true
	case f.PrintedByOther && r.PID != f.Leader:
		return true
	}
	return false
}

// relayPrograms pass input on to other programs and wait for it, with or without a prompt.
var relayPrograms = newSet("ssh", "mosh-client", "docker", "podman", "kubectl", "tmux: client", "screen", "script",
	"sudo", "su", "doas", "nsenter", "telnet", "socat", "machinectl", "systemd-run", "wsl", "expect", "picocom", "minicom")

// pagers are programs that show text page by page.
var pagers = newSet("less", "more", "most", "pager", "moar", "bat")

// shells are the names of shells.
var shells = newSet("bash", "zsh", "fish", "sh", "dash", "ash", "ksh", "ksh93", "mksh", "tcsh", "csh", "pwsh", "nu",
	"xonsh", "elvish", "busybox", "rbash", "yash", "oil", "osh", "rzsh", "rksh", "lksh", "ksh93u+m", "pwsh-preview", "powershell")

// plainShells have no line editor, or can work without one.
var plainShells = newSet("sh", "dash", "ash", "ksh", "busybox", "csh", "yash")

// plainShellPrompt matches the default prompt of plainShells: "$ ", "# ", or with the host before it.
var plainShellPrompt = pattern.Lazy(`^(?:[\w.@:~/-]*[\w\])] ?)?[$#%] $`)

// newSet returns the set of the names.
func newSet(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}
