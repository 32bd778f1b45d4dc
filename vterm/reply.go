package vterm

import "fmt"

// repliesMax bounds what waits to be typed back; a program that asks without end and
// never reads gets no more answers.
const repliesMax = 1 << 20

// reply queues an answer, one of the forms of internal/replyform: nothing in it may be chosen by what is printed but
// numbers. It begins with a C1 control, given by its 7-bit form's second byte, in the form that S7C1T/S8C1T chose.
func (t *Terminal) reply(c1 byte, body string) {
	if len(t.replies)+len(body) > repliesMax {
		return
	}
	if t.conform.bit8 {
		t.replies = append(t.replies, c1+0x40)
	} else {
		t.replies = append(t.replies, 0x1b, c1)
	}
	t.replies = append(t.replies, body...)
}

func (t *Terminal) replyCSI(format string, args ...any) {
	t.reply('[', fmt.Sprintf(format, args...))
}

// replyDCS answers with a device control string.
func (t *Terminal) replyDCS(format string, args ...any) {
	t.reply('P', fmt.Sprintf(format, args...)+t.terminator())
}

// replyOSC answers a query with the terminator that the query had.
func (t *Terminal) replyOSC(format string, args ...any) {
	end := t.terminator()
	if t.parser.Bell {
		end = "\a"
	}
	t.reply(']', fmt.Sprintf(format, args...)+end)
}

func (t *Terminal) terminator() string {
	if t.conform.bit8 {
		return "\x9c"
	}
	return "\x1b\\"
}
