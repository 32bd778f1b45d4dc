//go:build unix

package pagesocket

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/access"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/web/wire"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// What waits to be typed into a session by a page: a program that reads nothing holds up this session's input alone. While a
// person is asked whether a line may be run nothing waits: whoever answers, minutes later, allows that line, and what came
// behind it would be run then, or be appended to the line that was refused.
const (
	maxWaiting      = 4096
	maxWaitingBytes = 4 << 20
)

// input queues what a page does with a session.
func (p *sub) input(m *wire.Message) {
	switch {
	case !p.c.mayType():
		p.c.refuse(m, api.Errorf(api.CodeDenied, "this login may only look").WithHint("a person makes one that may type, with `longterm web` or `longterm share --type`"))
		return
	case !p.e.Clients.Typed(p.seat, time.Now()):
		p.c.refuse(m, api.Errorf(api.CodeDenied, "a person has this page look only").WithHint("`longterm clients S --type N` lets it type again"))
		return
	}
	p.mu.Lock()
	if p.typing == nil {
		p.typing = make(chan wire.Message, maxWaiting)
		typing := p.typing
		p.c.working.Go(func() { p.types(typing) })
	}
	full, asks := p.queued > maxWaitingBytes, p.asks && m.T != "resize"
	if !full && !asks {
		select {
		case p.typing <- *m:
			p.queued += len(m.Text)
		default:
			full = true
		}
	}
	p.mu.Unlock()
	if asks {
		p.leaveOut(m)
	} else if full {
		p.c.refuse(m, api.Errorf(api.CodeLimit, "the session does not take what is typed").WithHint("wait until its program reads again"))
	}
}

// asked has nothing be typed that came behind the line that a person is asked about. What was queued is left out, but sizes.
func (p *sub) asked(queue chan wire.Message) {
	p.mu.Lock()
	p.asks = true
	var left, sizes []wire.Message
	for len(queue) > 0 { // who queues does so under the lock, and who takes is waiting
		m := <-queue
		if m.T == "resize" {
			sizes = append(sizes, m)
			continue
		}
		p.queued -= len(m.Text)
		left = append(left, m)
	}
	for _, m := range sizes {
		queue <- m // there is room: it was in it
	}
	p.mu.Unlock()
	for i := range left {
		p.leaveOut(&left[i])
	}
}

// answered has what is typed from here on be typed again.
func (p *sub) answered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asks = false
}

// leaveOut says of what was typed that it was not, or, of what nobody typed, nothing.
func (p *sub) leaveOut(m *wire.Message) {
	if (m.T == "focus" || m.T == "mouse") && m.Q != nil {
		p.took(*m.Q)
		return
	}
	p.c.refuse(m, api.Errorf(api.CodeNeedsApproval, "this was not typed: a person is asked first whether the line before it may be run").
		WithHint("type it again when that is answered"))
}

// mayType says whether who asks may type at all.
func (c *conn) mayType() bool {
	g := c.srv.Host.Grant(c.ctx)
	return g.Rights()&access.Type != 0
}

// types does what was queued, in order.
func (p *sub) types(queue chan wire.Message) {
	for {
		select {
		case <-p.ctx.Done():
			return
		case m := <-queue:
			err := p.do(&m, func() { p.asked(queue) })
			p.answered()
			p.mu.Lock()
			p.queued -= len(m.Text)
			p.mu.Unlock()
			switch {
			case p.ctx.Err() != nil, m.U != "" && errors.Is(err, session.ErrStopped): // the page says it again to the next daemon
				return
			case err != nil:
				p.c.refuse(&m, err)
			case m.Q != nil:
				p.took(*m.Q)
			}
		}
	}
}

func (p *sub) do(m *wire.Message, asked func()) error {
	if m.T == "resize" {
		cols, rows, err := m.Size()
		if err != nil {
			return api.Errorf(api.CodeInvalid, "%v", err)
		}
		if !vterm.ValidSize(cols, rows) {
			return api.Errorf(api.CodeInvalid, "size %d×%d", cols, rows).
				WithHint("columns must be %d to %d, rows %d to %d", vterm.MinCols, vterm.MaxCols, vterm.MinRows, vterm.MaxRows)
		}
		return p.e.Session.Resize(p.ctx, cols, rows)
	}
	t, err := typingOf(m)
	if err != nil {
		return api.Errorf(api.CodeInvalid, "%v", err)
	}
	if t.ID, err = m.Unique(); err != nil {
		return api.Errorf(api.CodeInvalid, "%v", err)
	}
	t.Person = !actor.Of(p.ctx).IsAgent()
	if p.e.OnPipes() {
		t = onPipes(t)
	}
	if t.ID == "" {
		return p.c.srv.Host.Type(p.ctx, p.e, t, asked)
	}
	// The page comes back and says it again, which is not typed: so this is, as a whole. Nobody waits for it then.
	typed := make(chan error, 1)
	go func() { typed <- p.c.srv.Host.Type(context.WithoutCancel(p.ctx), p.e, t, asked) }()
	select {
	case err := <-typed:
		return err
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
}

// onPipes has Enter end lines: on a pipe no terminal driver does that.
func onPipes(t session.Typing) session.Typing {
	encode := t.Encode
	if encode == nil {
		return t
	}
	t.Encode = func(dst []byte, v session.View) []byte {
		v.Modes.NewLine = false
		from := len(dst)
		dst = encode(dst, v)
		if len(dst) == from+1 && dst[from] == '\r' {
			dst[from] = '\n'
		}
		return dst
	}
	return t
}

// typingOf is what a message types. Keys and pastes become bytes where the terminal's modes are known.
func typingOf(m *wire.Message) (session.Typing, error) {
	var t session.Typing
	switch m.T {
	case "key":
		k, err := m.Key()
		if err != nil {
			return t, err
		}
		t.Encode = func(dst []byte, v session.View) []byte { return input.AppendKey(dst, k, &v.Modes) }
	case "mouse":
		e, err := m.Mouse()
		if err != nil {
			return t, err
		}
		t.Encode = func(dst []byte, v session.View) []byte {
			if v.Modes.Mouse == vterm.MouseOff {
				return dst
			}
			return input.AppendMouse(dst, e, &v.Modes)
		}
	case "paste":
		t.Paste = true
		t.Encode = func(dst []byte, v session.View) []byte { return input.AppendPaste(dst, []byte(m.Text), &v.Modes) }
	case "focus":
		t.Encode = func(dst []byte, v session.View) []byte { return input.AppendFocus(dst, m.On, &v.Modes) }
	default: // text of an input method: what is a control character is a key's, or a paste's
		t.Bytes = []byte(strings.Map(func(r rune) rune {
			if r < ' ' && r != '\t' && r != '\r' || r == 0x7f {
				return -1
			}
			return r
		}, m.Text))
	}
	return t, nil
}
