package evidence

// asksItself are the relays that may ask before they relay: for a password, mostly.
var asksItself = set("ssh", "sudo", "su", "doas", "docker", "podman", "kubectl", "telnet", "machinectl", "systemd-run")

// paned are the relays that draw what they relay: screens of theirs say nothing of what is behind.
var paned = set("tmux: client", "screen")

// looksBehind reports if what is behind a relay is to be judged instead of the relay.
func looksBehind(f *Facts) bool {
	r := &f.Probe
	if len(r.Behind) == 0 || f.Shell == ShellPrompt || f.asksForItself() {
		return false
	}
	return relays[r.Program] || !f.AltScreen // else it is a full-screen program itself
}

// asksForItself: a relay that has something to ask reads lines; while it relays it reads keys.
func (f *Facts) asksForItself() bool {
	r := &f.Probe
	return r.State == Reading && f.Modes != nil && f.Modes.Canonical && r.TID == r.PID && asksItself[r.Program]
}

// behind judges by the terminals behind a relay. Of several it is not known which one is seen: all of
// them have to wait, or what stands at the cursor has to ask.
func behind(f *Facts) Verdict {
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
