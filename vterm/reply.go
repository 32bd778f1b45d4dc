package vterm

import "fmt"

// repliesMax bounds what waits to be typed back; a program that asks without end and
// never reads gets no more answers.
const repliesMax = 1 << 20

// answers are what waits to be typed back to the program.
type answers struct {
	replies []byte
	bit8    bool // S8C1T: with 8-bit C1 controls
	bell    bool // the command that is answered by replyOSC ended in BEL
}

// reply queues an answer, one of the forms of internal/replyform: nothing in it may be chosen by what is printed but
// numbers. It begins with a C1 control, given by its 7-bit form's second byte, in the form that S7C1T/S8C1T chose.
func (a *answers) reply(c1 byte, body string) {
	if len(a.replies)+len(body) > repliesMax {
		return
	}
	if a.bit8 {
		a.replies = append(a.replies, c1+0x40)
	} else {
		a.replies = append(a.replies, 0x1b, c1)
	}
	a.replies = append(a.replies, body...)
}

func (a *answers) replyCSI(format string, args ...any) {
	a.reply('[', fmt.Sprintf(format, args...))
}

// replyDCS answers with a device control string.
func (a *answers) replyDCS(format string, args ...any) {
	a.reply('P', fmt.Sprintf(format, args...)+a.terminator())
}

// replyOSC answers a query with the terminator that the query had.
func (a *answers) replyOSC(format string, args ...any) {
	end := a.terminator()
	if a.bell {
		end = "\a"
	}
	a.reply(']', fmt.Sprintf(format, args...)+end)
}

func (a *answers) terminator() string {
	if a.bit8 {
		return "\x9c"
	}
	return "\x1b\\"
}
