package evidence

import (
	"regexp"
	"time"
)

// fact is a circumstance and what it speaks for or against, in percent.
type fact struct {
	points int
	why    string
	holds  func(*scene) bool
}

// briefTimeout is the longest wait of a program that does something else meanwhile.
const briefTimeout = time.Second

// weights is the whole judgement. The first block is the kernel's word, of which one row
// holds; the rest is what the terminal's settings and its text add. Text alone cannot
// make up for missing evidence unless there was silence too.
var weights = []fact{
	{90, "reads lines from the terminal", func(s *scene) bool { return s.reads() && !s.raw && s.exact() }},
	{75, "reads keys from the terminal", func(s *scene) bool { return s.reads() && s.raw && s.exact() }},
	{70, "seems to read the terminal", func(s *scene) bool { return s.reads() && !s.exact() }},
	{62, "waits for the terminal and other things", func(s *scene) bool { return s.polls() && !s.brief() && s.exact() }},
	{52, "seems to wait for the terminal and other things", func(s *scene) bool { return s.polls() && !s.brief() && !s.exact() }},
	{38, "looks at the terminal now and then", func(s *scene) bool { return s.polls() && s.brief() }},
	{30, "did not run since it was last looked at", func(s *scene) bool { return s.blind() && s.Probe.Idle }},
	{15, "nothing is known about the program", func(s *scene) bool { return s.blind() && !s.Probe.Idle }},

	{40, "line input without echo", func(s *scene) bool { return s.hidden }},
	{30, "", func(s *scene) bool { return s.asks }}, // the phrase says why
	{20, "the line ends like a prompt", func(s *scene) bool { return s.like && !s.asks && !s.works }},
	{10, "a line editor is active", func(s *scene) bool { return s.BracketedPaste && !s.AltScreen }},
	{15, "a full-screen program", func(s *scene) bool { return s.kind == Screen }},
	{-10, "a secret would be echoed", func(s *scene) bool { return s.kind == Password && s.Modes != nil && s.Modes.Echo }},

	// Against a reader: only that it seems to be at work, in another thread.
	{-35, "the line looks like progress", func(s *scene) bool { return s.works && s.reads() && !s.like && !s.hidden && s.kind != Screen }},
	{-50, "the line looks like progress", func(s *scene) bool { return s.works && !s.reads() && !s.hidden && s.kind != Screen }},
	// Against those who would also wait for something else.
	{-25, "it relays for another program", func(s *scene) bool { return !s.reads() && s.relay && !s.asks && !s.AltScreen }},
	{-25, "the cursor is on an empty line", func(s *scene) bool { return !s.reads() && s.empty && !s.asks && !s.hidden && s.kind != Screen }},
	{-8, "the line does not end like a prompt", func(s *scene) bool {
		return !s.reads() && !s.empty && !s.like && !s.asks && !s.hidden && s.kind != Screen
	}},
	// Without the kernel's word, silence decides.
	{20, "silent for long enough", func(s *scene) bool { return s.blind() && s.quietEnough() }},
	{-40, "not silent for long", func(s *scene) bool { return s.blind() && !s.quietEnough() }},
	{-15, "printed just now", func(s *scene) bool { return s.polls() && !s.asks && s.Quiet < 20*time.Millisecond }},
	{8, "silent for long enough", func(s *scene) bool { return s.polls() && s.quietEnough() }},
}

// reads and polls: a relay has a thread that reads all the time, which is worth no more
// than polling.
func (s *scene) reads() bool { return s.Probe.State == Reading && !s.relay }
func (s *scene) polls() bool { return s.Probe.State == Polling || s.Probe.State == Reading && s.relay }
func (s *scene) blind() bool { return s.Probe.State == Unknown }
func (s *scene) exact() bool { return s.Probe.Source == FromCall }
func (s *scene) brief() bool { return s.Probe.Timeout >= 0 && s.Probe.Timeout <= briefTimeout }

// relays pass on what is typed and wait for it whether or not somebody is asked.
var relays = set("ssh", "mosh-client", "docker", "podman", "kubectl", "tmux: client", "screen", "script",
	"sudo", "su", "doas", "nsenter", "telnet", "socat", "machinectl", "systemd-run", "wsl", "expect", "picocom", "minicom")

var pagers = set("less", "more", "most", "pager", "moar", "bat")

var shells = set("bash", "zsh", "fish", "sh", "dash", "ash", "ksh", "ksh93", "mksh", "tcsh", "csh", "pwsh", "nu",
	"xonsh", "elvish", "busybox", "rbash", "yash", "oil", "osh")

// plainShells have no line editor, or can do without.
var plainShells = set("sh", "dash", "ash", "ksh", "busybox", "csh", "yash")

// plainPrompt is the prompt of one as it comes: "$ ", "# ", or with the host before it.
var plainPrompt = regexp.MustCompile(`^(?:[\w.@:~/-]*[\w\])] ?)?[$#%] $`)

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}
