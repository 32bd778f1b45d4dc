package session

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/internal/idlepoll"
)

// TestSleepingPrompt_ProbedRarely checks that a prompting program whose threads all sleep is probed at the slow
// interval, while its owner is parked and the process idle, and that the prompt is still reported.
//
// FEATURES: R42 R90
func TestSleepingPrompt_ProbedRarely(t *testing.T) {
	withTTYDevice(t, nil, func(t *testing.T, d *ttyDevice, _ string) {
		pid := startReader(t, d)
		p, s, h := new(idlepoll.Poller), d.s, d.s.inputwait
		p.AllowIdle(true)
		tick := p.Ticker(time.Second)
		defer tick.Stop()
		if err := s.do(t.Context(), func() {
			s.cfg.Poller, h.alarm = p, p.Alarm(h.onTimer)
			s.update(ChangeState, func(st *Status) { st.PID = pid })
		}); err != nil {
			t.Fatal(err)
		}
		defer func() {
			h.alarm.Stop()
			waitSettled() // its goroutine has ended
		}()
		d.print("Name? ")
		for range 60 {
			<-tick.C()
			tick.Next()
		}
		waitSettled() // waits for the probes of this interval
		if kind := s.Status().Needs.Kind; kind != inputdetect.Text || !p.IsIdle() {
			t.Errorf("prompt kind %q; idle: %v", kind, p.IsIdle())
		}
		var still, timed bool
		if dozes := s.runIfParked(func() bool {
			still, timed = h.unchangedSinceProbe(), h.timer.Stop()
			return true
		}); !dozes || !still || timed {
			t.Errorf("owner parked: %v; program unchanged: %v; separate timer: %v", dozes, still, timed)
		}
	})
}

// startReader starts a program that waits for input on the device's terminal.
func startReader(t *testing.T, d *ttyDevice) (pid int) {
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
	t.Fatal("the program does not read")
	return 0
}
