package session

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/respond"
)

// Ctrl-C is taken by the terminal, which drops what stood before it: that is known at once, and not looked for until the
// time is over. Where the terminal drops nothing, or takes it for a character, a line may wait unseen.
//
// FEATURES: R102
func TestInterruptIsTakenAtOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		set   func(*unix.Termios)
		typed string
		read  Tristate
	}{
		{"a signal", func(*unix.Termios) {}, "half a line\x03", Yes},
		{"another character", func(m *unix.Termios) { m.Cc[unix.VINTR] = 0x07 }, "half a line\x03", NotKnow},
		{"of no use", func(m *unix.Termios) { m.Lflag &^= unix.ISIG }, "half a line\x03", NotKnow},
		{"keeps what was typed", func(m *unix.Termios) { m.Lflag |= unix.NOFLSH }, "half a line\x03", NotKnow},
		{"half a line", func(*unix.Termios) {}, "half a line", NotKnow},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, nil, func(t *testing.T, d *asking, _ string) {
				modes, err := unix.IoctlGetTermios(int(d.master.Fd()), unix.TCGETS)
				if err != nil {
					t.Fatal(err)
				}
				c.set(modes)
				if err := unix.IoctlSetTermios(int(d.master.Fd()), unix.TCSETS, modes); err != nil {
					t.Fatal(err)
				}
				before, err := d.s.CaptureScreen(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := d.s.TypeIn(t.Context(), Typing{Bytes: []byte(c.typed)}); err != nil {
					t.Fatal(err)
				}
				d.says("^C")
				const most = 5 * time.Second
				began := time.Now() // of the bubble
				taken := d.s.ConfirmInput(t.Context(), before, "", respond.EchoOn, most, false)
				if taken.Read != c.read || taken.Drawn != Yes || (time.Since(began) < most) != (c.read == Yes) {
					t.Errorf("%+v after %s", taken, time.Since(began))
				}
			})
		})
	}
}

// What a program does not show that has drawn something else and waits again, as an editor does not show its keys, is not
// looked for until the time is over, unless the program is given time to show it late.
//
// FEATURES: R102
func TestProofEndsWhereTheProgramWaitsAgain(t *testing.T) {
	for _, late := range []bool{false, true} {
		inBubble(t, nil, func(t *testing.T, d *asking, _ string) {
			before, err := d.s.CaptureScreen(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.s.TypeIn(t.Context(), Typing{Bytes: []byte("G\r")}); err != nil {
				t.Fatal(err)
			}
			d.says("\x1b[?1049hthe end of the page")
			if err := d.s.do(t.Context(), func() {
				d.s.update(ChangeInput, func(st *Status) { st.Needs = Needs{Kind: "screen", Since: time.Now()} })
			}); err != nil {
				t.Fatal(err)
			}
			const most = 50 * time.Millisecond // of the bubble: before it is looked again whether it waits
			began := time.Now()
			taken := d.s.ConfirmInput(t.Context(), before, "G", respond.EchoOn, most, late)
			if taken.Read != Yes || taken.Drawn != Yes || taken.Echoed != No || (time.Since(began) < most) == late {
				t.Errorf("late %v: %+v after %s", late, taken, time.Since(began))
			}
		})
	}
}
