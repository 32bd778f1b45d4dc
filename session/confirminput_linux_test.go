package session

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/respond"
)

// TestConfirmInput_Interrupt checks that Ctrl-C counts as read at once if the terminal discards the input before it.
// Otherwise, or if the terminal takes it for a character, a line may wait unseen.
//
// FEATURES: R102
func TestConfirmInput_Interrupt(t *testing.T) {
	for _, c := range []struct {
		name  string
		set   func(*unix.Termios)
		typed string
		read  Tristate
	}{
		{"a signal", func(*unix.Termios) {}, "half a line\x03", Yes},
		{"another character", func(m *unix.Termios) { m.Cc[unix.VINTR] = 0x07 }, "half a line\x03", NotKnown},
		{"of no use", func(m *unix.Termios) { m.Lflag &^= unix.ISIG }, "half a line\x03", NotKnown},
		{"keeps what was typed", func(m *unix.Termios) { m.Lflag |= unix.NOFLSH }, "half a line\x03", NotKnown},
		{"half a line", func(*unix.Termios) {}, "half a line", NotKnown},
	} {
		t.Run(c.name, func(t *testing.T) {
			withTTYDevice(t, nil, func(t *testing.T, d *ttyDevice, _ string) {
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
				if _, err := d.s.TypeIn(t.Context(), TypeRequest{Bytes: []byte(c.typed)}); err != nil {
					t.Fatal(err)
				}
				d.print("^C")
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

// TestConfirmInput_EndsAtNextWait checks a program that has drawn something else and waits again, as an editor does not
// show its keys: ConfirmInput returns before its limit, unless late text is expected.
//
// FEATURES: R102
func TestConfirmInput_EndsAtNextWait(t *testing.T) {
	for _, late := range []bool{false, true} {
		withTTYDevice(t, nil, func(t *testing.T, d *ttyDevice, _ string) {
			before, err := d.s.CaptureScreen(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.s.TypeIn(t.Context(), TypeRequest{Bytes: []byte("G\r")}); err != nil {
				t.Fatal(err)
			}
			d.print("\x1b[?1049hthe end of the page")
			if err := d.s.do(t.Context(), func() {
				d.s.update(ChangeInput, func(st *Status) { st.Needs = InputNeed{Kind: "screen", Since: time.Now()} })
			}); err != nil {
				t.Fatal(err)
			}
			const most = 50 * time.Millisecond // of the bubble: shorter than the interval of the probes
			began := time.Now()
			taken := d.s.ConfirmInput(t.Context(), before, "G", respond.EchoOn, most, late)
			if taken.Read != Yes || taken.Drawn != Yes || taken.Echoed != No || (time.Since(began) < most) == late {
				t.Errorf("late %v: %+v after %s", late, taken, time.Since(began))
			}
		})
	}
}
