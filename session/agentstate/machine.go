package agentstate

import "time"

// Source is the evidence of a state.
type Source string

// Sources.
const (
	NoSource   Source = ""
	FromHook   Source = "hook"
	FromKernel Source = "kernel"
	FromScreen Source = "screen"
)

// Verdict is how an agent is.
type Verdict struct {
	State    State
	Reason   string // in words
	Source   Source
	Evidence string // the row, the title, the hook's event
	Rules    int    // version of the rules
	Since    time.Time
	// Confident reports that the state was found after the newest input: Done refers to that input.
	Confident bool
}

// Observation is what is known at a moment.
type Observation struct {
	Now    time.Time
	Screen Screen
	// Waits is the kind of input that the program waits for according to the kernel, or "".
	Waits  string
	Output time.Time // of the newest output
	Typed  time.Time // of the newest input that may be a task
}

const (
	// restLasts is how long a screen has to show a line for the next task until that counts: agents
	// show it between two steps, too. restTyped is the same after something was typed.
	restLasts = 600 * time.Millisecond
	restTyped = 1500 * time.Millisecond
	// contradicts is how long the screen has to contradict a hook until it counts.
	contradicts = 2 * time.Second
	// silence is the time after the last output during which a program without other evidence counts as working.
	silence = 2 * time.Second
)

// Machine follows one agent. Times do not go back.
type Machine struct {
	agent *Agent

	hook        *hookEvent
	rule        *Rule // that the screen fits
	row         string
	seen        time.Time // since when
	work        time.Time // when it last worked
	started     bool      // it has worked, or there was input
	lastVerdict Verdict
}

// hookEvent is the newest event with a rule.
type hookEvent struct {
	Hook
	rule *Rule
	at   time.Time
}

// New makes a machine for an agent.
func New(a *Agent) *Machine {
	return &Machine{agent: a, lastVerdict: Verdict{State: Unknown, Reason: "nothing is known yet", Rules: a.Version}}
}

// Agent returns the agent.
func (m *Machine) Agent() *Agent { return m.agent }

// LastWorked returns when the agent was last seen at work.
func (m *Machine) LastWorked() time.Time { return m.work }

// Hook processes an event, and reports whether it has a rule.
func (m *Machine) Hook(h Hook, now time.Time) bool {
	r := m.agent.means(&h)
	if r == nil {
		return false
	}
	if r.State == Working {
		m.work = now
	}
	m.started = m.started || !r.Weak
	m.hook = &hookEvent{h, r, now}
	return true
}

// Look judges how the agent is, and when to look again at the latest if nothing happens; 0: no need.
func (m *Machine) Look(l Observation) (v Verdict, again time.Duration) {
	r, row := m.agent.read(l.Screen)
	if r != m.rule {
		m.rule, m.seen = r, l.Now
	}
	m.row = row
	if r != nil && r.State == Working {
		m.work, m.started = l.Now, true
	}
	v, again = m.judge(&l)
	v.Rules = m.agent.Version
	if v.State == rest {
		v.State = Idle
		if m.started {
			v.State = Done
		}
	}
	if v.Confident = v.State != Unknown; v.State == Idle || v.State == Done {
		v.Confident = !l.Typed.After(m.work) || l.Now.Sub(l.Typed) >= restTyped
		if !v.Confident {
			again = soonest(again, restTyped-l.Now.Sub(l.Typed))
		}
	}
	v.Since = l.Now
	if v.State == m.lastVerdict.State && !m.lastVerdict.Since.IsZero() {
		v.Since = m.lastVerdict.Since
	}
	m.lastVerdict = v
	return v, again
}

func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// judge weighs hook, screen and kernel.
func (m *Machine) judge(l *Observation) (v Verdict, again time.Duration) {
	if r := m.rule; r != nil { // the screen's word
		v = Verdict{State: r.State, Reason: r.Reason, Source: FromScreen, Evidence: m.row}
		if left := restLasts - l.Now.Sub(m.seen); r.State == rest && left > 0 {
			again = left
			if m.lastVerdict.State != Unknown { // its state before
				v = m.lastVerdict
			} else {
				v = Verdict{State: Unknown, Reason: "it may wait for a task; that has to last"}
			}
		}
	}
	if h := m.hook; h != nil {
		return m.hookVerdict(l, h, v, again)
	}
	if m.rule != nil {
		return v, again
	}
	return m.kernel(l)
}

// hookVerdict holds a hook's word against the screen's.
func (m *Machine) hookVerdict(l *Observation, h *hookEvent, screen Verdict, again time.Duration) (Verdict, time.Duration) {
	word := Verdict{State: h.rule.State, Reason: h.reason(), Source: FromHook, Evidence: name(&h.Hook)}
	switch {
	case m.rule == nil || m.rule.State == h.rule.State:
		return word, again
	case h.rule.Weak: // not every such event is the conversation's
		m.hook = nil
		return screen, again
	}
	since := m.seen
	if h.at.After(since) {
		since = h.at
	}
	if left := contradicts - l.Now.Sub(since); left > 0 {
		return word, soonest(again, left)
	}
	m.hook = nil // it is outdated, and later events were lost
	return screen, again
}

func (h *hookEvent) reason() string {
	if h.Message == "" {
		return h.rule.Reason
	}
	return h.rule.Reason + ": " + h.Message
}

func name(h *Hook) string {
	if h.Kind != "" {
		return h.Event + "/" + h.Kind
	}
	return h.Event
}

// asks are the kinds of input that the kernel's evidence makes questions of.
var asks = map[string]State{"password": NeedsInput, "confirm": NeedsInput, "menu": NeedsInput}

// kernel returns the verdict without matching rules.
func (m *Machine) kernel(l *Observation) (Verdict, time.Duration) {
	switch left := silence - l.Now.Sub(l.Output); {
	case asks[l.Waits] != "":
		return Verdict{State: asks[l.Waits], Reason: "it waits for input (" + l.Waits + ")", Source: FromKernel, Evidence: l.Waits}, 0
	case l.Waits != "":
		return Verdict{State: Unknown, Reason: "it waits for the terminal, and its screen is not known", Source: FromKernel, Evidence: l.Waits}, 0
	case left > 0 && !l.Output.IsZero():
		return Verdict{State: Working, Reason: "it prints", Source: FromKernel}, left
	}
	return Verdict{State: Unknown, Reason: "no evidence from hooks, screen or kernel"}, 0
}
