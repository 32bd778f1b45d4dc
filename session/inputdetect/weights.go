package inputdetect

import (
	"time"

	"github.com/longterm-dev/longterm/session/pattern"
)

// fact is a circumstance with its weight for or against waiting, in percent.
type fact struct {
	points int
	why    string
	holds  func(*scene) bool
}

// briefTimeout is the longest wait of a program that also does other work.
const briefTimeout = time.Second

// weights is the complete table of judgement. The first block is the kernel's evidence, and one of its rows applies.
// The other rows add the terminal's settings and text. Text alone cannot replace missing evidence, unless there was
// silence too.
var weights = []fact{
	{90, "reads lines from the terminal", func(s *scene) bool { return s.reads() && !s.raw && s.exact() }},
	{75, "reads keys from the terminal", func(s *scene) bool { return s.reads() && s.raw && s.exact() }},
	{70, "seems to read the terminal", func(s *scene) bool { return s.reads() && !s.exact() }},
	{75, "waits for the terminal alone", func(s *scene) bool { return s.polls() && !s.brief() && s.exact() && s.Probe.Alone }},
	{62, "waits for the terminal and other things", func(s *scene) bool { return s.polls() && !s.brief() && s.exact() && !s.Probe.Alone }},
	{52, "seems to wait for the terminal and other things", func(s *scene) bool { return s.polls() && !s.brief() && !s.exact() }},
	{38, "looks at the terminal now and then", func(s *scene) bool { return s.polls() && s.brief() && s.outlasts() }},
	{-60, "looks at the terminal for a moment", func(s *scene) bool { return s.polls() && s.brief() && !s.outlasts() }},
	{40, "keeps waiting for the terminal while others work", func(s *scene) bool { return s.parks() && s.promptPersists() }},
	{5, "keeps waiting for the terminal while others work", func(s *scene) bool { return s.parks() && !s.promptPersists() }},
	{40, "relays for a program that cannot be seen", func(s *scene) bool { return s.relays() && s.promptPersists() }},
	{5, "relays for a program that cannot be seen", func(s *scene) bool { return s.relays() && !s.promptPersists() }},
	{30, "did not run since it was last looked at", func(s *scene) bool { return s.blind() && s.Probe.Idle }},
	{15, "nothing is known about the program", func(s *scene) bool { return s.blind() && !s.Probe.Idle }},

	{40, "line input without echo", func(s *scene) bool { return s.hidden }},
	{30, "", func(s *scene) bool { return s.asks }}, // the phrase has the reason
	{20, "the line ends like a prompt", func(s *scene) bool { return s.like && !s.asks && !s.works }},
	{10, "a line editor is active", func(s *scene) bool { return s.BracketedPaste && !s.AltScreen }},
	{15, "a full-screen program", func(s *scene) bool { return s.kind == Screen }},
	{-10, "a secret would be echoed", func(s *scene) bool { return s.kind == Password && s.Modes != nil && s.Modes.Echo }},

	// Against a reader: only that it seems to be at work in another thread.
	{-35, "the line looks like progress", func(s *scene) bool { return s.works && s.reads() && !s.like && !s.hidden && s.kind != Screen }},
	{-50, "the line looks like progress", func(s *scene) bool { return s.works && !s.reads() && !s.hidden && s.kind != Screen }},
	{-50, "a dedicated thread reads, without a prompt", func(s *scene) bool {
		return s.reads() && s.Probe.TID != s.Probe.PID && !s.asks && !s.like && !s.hidden && s.kind != Screen && s.Quiet < time.Second
	}},
	// Against programs that may wait for something else.
	{-25, "the cursor is on an empty line", func(s *scene) bool { return !s.reads() && s.empty && !s.asks && !s.hidden && s.kind != Screen }},
	{-8, "the line does not end like a prompt", func(s *scene) bool {
		return !s.reads() && !s.empty && !s.like && !s.asks && !s.hidden && s.kind != Screen
	}},
	// Without evidence from the kernel, silence decides.
	{20, "silent for long enough", func(s *scene) bool { return s.blind() && s.quietEnough() }},
	{-40, "not silent for long", func(s *scene) bool { return s.blind() && !s.quietEnough() }},
	{-15, "printed just now", func(s *scene) bool { return s.polls() && !s.asks && s.Quiet < 20*time.Millisecond }},
	{8, "silent for long enough", func(s *scene) bool { return s.polls() && s.quietEnough() }},
}

// reads and the methods below classify a wait for the terminal: a read, a wait for several things, a relay's wait, or
// one during which other threads work. The weakest decides.
func (s *scene) reads() bool { return s.Probe.State == Reading && !s.relay && !s.parked }
func (s *scene) polls() bool {
	return !s.parked && s.Probe.State == Polling && !s.relay || s.waits() && s.relay && s.AltScreen
}
func (s *scene) relays() bool { return s.waits() && s.relay && !s.AltScreen }
func (s *scene) parks() bool  { return s.waits() && s.parked && !s.relay }
func (s *scene) waits() bool  { return s.Probe.State == Reading || s.Probe.State == Polling }

// mayBeAtWork reports whether the program always waits for the terminal, or cannot be examined.
func (s *scene) mayBeAtWork() bool {
	return s.relays() || s.parks() || s.blind() && s.relay && s.raw && !s.AltScreen
}

// foreign reports whether the program belongs to another user, so that little of it is visible.
func (s *scene) foreign() bool { return s.blind() && s.Probe.Source == FromSched }
func (s *scene) blind() bool   { return s.Probe.State == Unknown }
func (s *scene) exact() bool   { return s.Probe.Source == FromCall }
func (s *scene) brief() bool   { return s.Probe.Timeout >= 0 && s.Probe.Timeout <= briefTimeout }

// outlasts reports whether the program repeated its brief wait without output. Before that it may continue with other
// work.
func (s *scene) outlasts() bool {
	return s.AltScreen || s.Quiet >= s.Probe.Timeout+60*time.Millisecond
}

// promptPersists reports whether a prompt has stayed at the cursor for so long that it is a question: programs that print such a
// text and continue to work do so earlier.
func (s *scene) promptPersists() bool {
	least := 5 * time.Second
	switch {
	case s.Answered, !s.asks && !s.like, s.Probe.Aside == Working:
		return false
	case s.asks && s.Probe.Aside == Nothing && !s.relay:
		least = time.Second
	case s.asks:
		least = 3 * time.Second
	}
	return s.Quiet >= max(least, min(3*s.Rhythm, maxRequiredSilence))
}

// isParked reports whether a wait may continue without any prompt: that of a thread that was made to read keys while
// the program works.
func isParked(f *Facts) bool {
	r := &f.Probe
	switch {
	case r.State != Reading && r.State != Polling, f.AltScreen:
		return false
	case r.Aside != Nothing:
		return true
	case f.Beside && r.PID != f.Leader:
		return true
	}
	return false
}

// relays pass input on and wait for it, with or without a prompt.
var relays = set("ssh", "mosh-client", "docker", "podman", "kubectl", "tmux: client", "screen", "script",
	"sudo", "su", "doas", "nsenter", "telnet", "socat", "machinectl", "systemd-run", "wsl", "expect", "picocom", "minicom")

var pagers = set("less", "more", "most", "pager", "moar", "bat")

var shells = set("bash", "zsh", "fish", "sh", "dash", "ash", "ksh", "ksh93", "mksh", "tcsh", "csh", "pwsh", "nu",
	"xonsh", "elvish", "busybox", "rbash", "yash", "oil", "osh", "rzsh", "rksh", "lksh", "ksh93u+m", "pwsh-preview", "powershell")

// plainShells have no line editor, or can work without one.
var plainShells = set("sh", "dash", "ash", "ksh", "busybox", "csh", "yash")

// plainPrompt matches their default prompt: "$ ", "# ", or with the host before it.
var plainPrompt = pattern.Lazy(`^(?:[\w.@:~/-]*[\w\])] ?)?[$#%] $`)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}
