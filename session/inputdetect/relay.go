package inputdetect

// asksItself is the set of relays that may prompt before they relay, mostly for a password.
var asksItself = set("ssh", "sudo", "su", "doas", "docker", "podman", "kubectl", "telnet", "machinectl", "systemd-run")

// paned is the set of relays that draw what they relay: their alternate screen does not mean one of the program behind.
var paned = set("tmux: client", "screen")

// shouldProbeRelayed reports whether the program behind a relay must be judged instead of the relay.
func shouldProbeRelayed(f *Facts) bool {
	r := &f.Probe
	if len(r.Behind) == 0 || f.Shell == ShellPrompt || f.promptsItself() {
		return false
	}
	return relays[r.Program] || !f.AltScreen // else it is a full-screen program itself
}

// promptsItself reports whether the relay itself prompts: it reads lines then, and keys while it relays.
func (f *Facts) promptsItself() bool {
	r := &f.Probe
	return r.State == Reading && f.Modes != nil && f.Modes.Canonical && r.TID == r.PID && asksItself[r.Program]
}

// relayedVerdict judges by the terminals behind a relay. If several exist, the visible one is unknown: all of them must
// wait, or the text at the cursor must be a question.
func relayedVerdict(f *Facts) Verdict {
	var best, least Verdict
	for i := range f.Probe.Behind {
		inner := *f
		b := &f.Probe.Behind[i]
		inner.Probe, inner.Modes, inner.Leader = b.Probe, b.Modes, 0
		inner.Shell, inner.NewPrompt = ShellUnknown, false
		if paned[f.Probe.Program] {
			inner.AltScreen = b.Modes != nil && !b.Modes.Canonical && !shells[b.Probe.Program]
		}
		v := Classify(inner)
		if i == 0 || rank(v) > rank(best) {
			best = v
		}
		if i == 0 || rank(v) < rank(least) {
			least = v
		}
	}
	v := best
	if rank(least) != rank(best) && !asksAt(f.Line) {
		v = least
	}
	v.Reason = "behind " + f.Probe.Program + ": " + v.Reason
	return v
}

// rank orders verdicts: none, a shell's prompt, input.
func rank(v Verdict) int {
	switch {
	case v.Needs:
		return 2
	case v.Kind == Prompt:
		return 1
	}
	return 0
}

func asksAt(line string) bool {
	_, asks := ask(tail(line))
	return asks
}
