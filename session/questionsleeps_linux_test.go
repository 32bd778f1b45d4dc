package session

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/internal/idlepoll"
)

// A prompting program whose threads all sleep is probed at the slow interval, while its owner is parked and the process
// idle; the prompt is still reported.
//
// FEATURES: R42 R90
func TestQuestionSleeps(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, d *asking, _ string) {
		pid := reads(t, d)
		p, s, h := new(idlepoll.Pace), d.s, d.s.inputwait
		p.AllowIdle(true)
		tick := p.Ticker(time.Second)
		defer tick.Stop()
		if err := s.do(t.Context(), func() {
			s.cfg.Pace, h.alarm = p, p.Alarm(h.onTimer)
			s.update(ChangeState, func(st *Status) { st.PID = pid })
		}); err != nil {
			t.Fatal(err)
		}
		defer func() {
			h.alarm.Stop()
			settled() // its goroutine has ended
		}()
		d.says("Name? ")
		for range 60 {
			<-tick.C()
			tick.Next()
		}
		settled() // the looks of this beat
		if kind := s.Status().Needs.Kind; kind != inputdetect.Text || !p.IsIdle() {
			t.Errorf("it asks for %q; at rest: %v", kind, p.IsIdle())
		}
		var still, timed bool
		if dozes := s.runIfParked(func() bool {
			still, timed = h.unchangedSinceProbe(), h.timer.Stop()
			return true
		}); !dozes || !still || timed {
			t.Errorf("the owner dozes: %v; the program is still: %v; it is looked at by a clock of its own: %v", dozes, still, timed)
		}
	})
}

// reads makes a program wait for input on the device's terminal.
func reads(t *testing.T, d *asking) (pid int) {
	t.Helper()
	cmd := exec.Command("cat")
	cmd.Stdin, cmd.Stdout = d.tty, d.tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	var prober inputdetect.Prober
	for range 100_000 {
		if target, err := inputdetect.TargetOf(int(d.master.Fd())); err == nil && prober.Probe(target).State == inputdetect.Reading {
			return cmd.Process.Pid
		}
	}
	t.Fatal("it does not read")
	return 0
}
