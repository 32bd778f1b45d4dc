//go:build unix

// Package link is the other end of a keeper's socket: what the daemon and the tools
// use to ask a keeper for things. Requests may be made from any goroutine; notices
// are delivered from one, in the order they came.
package link

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
)

// Notices receives what a keeper says unasked. Its methods must not block: they run
// on the goroutine that reads the socket.
type Notices interface {
	Output(id string)
	Exited(*wire.Exited)
	Closed(*wire.Closed)
}

// Executions is for Notices that judge executions. What the others are told of waits on.
type Executions interface {
	// Execution notes one, and is told of before its end. What it returns judges and answers it, and may take its time: others
	// read on when it does, and at once when it calls aside. nil: there is nothing to judge, or others do.
	Execution(*wire.Execution) (judge func(aside func()))
	ExecutionGone(*wire.ExecutionGone)
}

// Refusals is implemented by Notices that record refused callers.
type Refusals interface{ Refused(*wire.Refused) }

// deaf takes no notices: a keeper tells one who adopts an ended session of its end, a tool too.
type deaf struct{}

func (deaf) Output(string)       {}
func (deaf) Exited(*wire.Exited) {}
func (deaf) Closed(*wire.Closed) {}

// Errors a keeper answers with.
var (
	ErrNotFound  = errors.New("the keeper has no such session")
	ErrExists    = errors.New("the keeper has a session with this id already")
	ErrBusy      = errors.New("the keeper has running sessions")
	ErrCrashLoop = errors.New("the daemon keeps crashing")
	ErrNoCgroup  = errors.New("the keeper cannot set limits")
	ErrLost      = errors.New("the connection to the keeper was lost")
	ErrRefused   = errors.New("the keeper refused this process")
	// ErrUnanswered is an ErrLost of a request that was sent: the keeper may have done what it asks for.
	ErrUnanswered = fmt.Errorf("%w before it answered", ErrLost)
)

var codes = map[string]error{
	wire.CodeNotFound:  ErrNotFound,
	wire.CodeExists:    ErrExists,
	wire.CodeBusy:      ErrBusy,
	wire.CodeCrashLoop: ErrCrashLoop,
	wire.CodeNoCgroup:  ErrNoCgroup,
}

// Link is a connection to a keeper.
type Link struct {
	conn    *wire.Conn
	hello   wire.Hello // the keeper's
	notices Notices
	gone    chan struct{}

	mu      sync.Mutex // guards the fields below and writes to conn
	req     uint64
	pending map[uint64]*call
	answers answers
	reading reading
}

// call is a request under way: answers go to ch until its asker closes quit.
type call struct {
	link *Link
	req  uint64
	ch   chan answer
	quit chan struct{}
}

type answer struct {
	msg   wire.Message
	files []*os.File
}

// greetTime bounds how long a keeper may take to greet: one that is stopped never does.
var greetTime = 10 * time.Second

// Dial connects to the keeper at a socket. notices may be nil for tools.
func Dial(path, role, build string, notices Notices) (*Link, error) {
	uc, err := unixsock.Dial(path)
	if err != nil {
		return nil, err
	}
	if notices == nil {
		notices = deaf{}
	}
	l := &Link{
		conn: wire.NewConn(uc), notices: notices,
		gone: make(chan struct{}), pending: map[uint64]*call{},
	}
	err = uc.SetDeadline(time.Now().Add(greetTime))
	if err == nil {
		err = l.greet(role, build)
	}
	if err = errors.Join(err, uc.SetDeadline(time.Time{})); err != nil {
		return nil, errors.Join(err, l.conn.Close())
	}
	go l.read()
	return l, nil
}

func (l *Link) greet(role, build string) error {
	err := l.conn.Write(&wire.Hello{
		Version: wire.Version, MinVersion: wire.Version,
		Build: build, Role: role, PID: int64(os.Getpid()),
	})
	if err != nil {
		return fmt.Errorf("greet the keeper: %w", err)
	}
	f, _, err := l.conn.Read()
	if err != nil {
		return fmt.Errorf("greet the keeper: %w", err)
	}
	if f.Kind != wire.KindHello {
		return fmt.Errorf("greet the keeper: answered with kind %d", f.Kind)
	}
	if err := wire.Decode(f.Payload, &l.hello); err != nil {
		return err
	}
	if l.hello.MinVersion > wire.Version || l.hello.Version < wire.Version {
		return fmt.Errorf("keeper %q speaks protocol %d to %d, this program %d; run the longterm that started it, or end its sessions",
			l.hello.Build, l.hello.MinVersion, l.hello.Version, wire.Version)
	}
	if l.hello.Refused != "" {
		return fmt.Errorf("%w: %s", ErrRefused, l.hello.Refused)
	}
	return nil
}

// Hello is what the keeper said of itself.
func (l *Link) Hello() wire.Hello { return l.hello }

// Gone is closed when the connection has ended.
func (l *Link) Gone() <-chan struct{} { return l.gone }

// Close ends the connection; requests under way get ErrLost.
func (l *Link) Close() error { return l.conn.Close() }

func (l *Link) fail() {
	_ = l.conn.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for req, c := range l.pending {
		close(c.ch)
		delete(l.pending, req)
	}
	l.answers.closeLocked()
	close(l.gone)
}

// receive takes what was read. What is to be judged is an execution.
func (l *Link) receive(f wire.Frame, files []*os.File) (e *wire.Execution, judge func(aside func()), err error) {
	to, ok := l.notices.(Executions)
	if f.Kind == wire.KindExecution && ok {
		closeAll(files)
		err = notice(f, func(m *wire.Execution) {
			if l.asked(m) {
				e, judge = m, to.Execution(m)
			}
		})
		return e, judge, err
	}
	return nil, nil, l.deliver(f, files)
}

func (l *Link) deliver(f wire.Frame, files []*os.File) error {
	switch f.Kind {
	case wire.KindOutput:
		return notice(f, func(m *wire.Output) { l.notices.Output(m.ID) })
	case wire.KindExited:
		return notice(f, func(m *wire.Exited) { l.notices.Exited(m) })
	case wire.KindClosed:
		return notice(f, func(m *wire.Closed) { l.notices.Closed(m) })
	case wire.KindRefused:
		if to, ok := l.notices.(Refusals); ok {
			return notice(f, to.Refused)
		}
		return nil
	case wire.KindExecutionGone:
		closeAll(files)
		if to, ok := l.notices.(Executions); ok {
			return notice(f, func(m *wire.ExecutionGone) {
				if l.waits(m) {
					to.ExecutionGone(m)
				}
			})
		}
		return nil
	case wire.KindExecutionListener:
		return notice(f, func(m *wire.ExecutionListener) { l.listenAt(run{m.ID, m.Run}, files) })
	case wire.KindExecutionInbox:
		return notice(f, func(m *wire.ExecutionInbox) { l.hearBy(run{m.ID, m.Run}, files) })
	case wire.KindSpawned:
		return reply(l, f, files, func(m *wire.Spawned) uint64 { return m.Req })
	case wire.KindSession:
		return reply(l, f, files, func(m *wire.Session) uint64 { return m.Req })
	case wire.KindDone:
		return reply(l, f, files, func(m *wire.Done) uint64 { return m.Req })
	case wire.KindStatusReply:
		return reply(l, f, files, func(m *wire.StatusReply) uint64 { return m.Req })
	}
	closeAll(files)
	return nil
}

type message[M any] interface {
	*M
	wire.Message
}

func notice[M any, P message[M]](f wire.Frame, deliver func(P)) error {
	m := P(new(M))
	if err := wire.Decode(f.Payload, m); err != nil {
		return err
	}
	deliver(m)
	return nil
}

func reply[M any, P message[M]](l *Link, f wire.Frame, files []*os.File, req func(P) uint64) error {
	m := P(new(M))
	if err := wire.Decode(f.Payload, m); err != nil {
		closeAll(files)
		return err
	}
	l.mu.Lock()
	c, ok := l.pending[req(m)]
	l.mu.Unlock()
	if !ok { // the asker gave up
		closeAll(files)
		return nil
	}
	select {
	case c.ch <- answer{m, files}:
	case <-c.quit:
		closeAll(files)
	}
	return nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// ask sends a request and hands its answers to take.
func (l *Link) ask(ctx context.Context, build func(req uint64) wire.Message, take func(answer) (last bool, err error), files ...*os.File) error {
	c, err := l.post(build, files)
	if err != nil {
		return err
	}
	return c.wait(ctx, take)
}

// wait hands every answer to take, until take says that it was the last.
func (c *call) wait(ctx context.Context, take func(answer) (last bool, err error)) error {
	defer c.giveUp()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case a, ok := <-c.ch:
			if !ok {
				return ErrUnanswered
			}
			if last, err := take(a); last || err != nil {
				return err
			}
		}
	}
}

// giveUp has what may still come of an answer thrown away.
func (c *call) giveUp() {
	c.link.mu.Lock()
	delete(c.link.pending, c.req)
	c.link.mu.Unlock()
	close(c.quit)
}

// post sends a request. Who does waits for its answer, or gives it up.
func (l *Link) post(build func(req uint64) wire.Message, files []*os.File) (*call, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.req++
	c := &call{link: l, req: l.req, ch: make(chan answer), quit: make(chan struct{})}
	l.pending[l.req] = c
	if err := l.conn.Write(build(l.req), files...); err != nil {
		delete(l.pending, l.req)
		if errors.Is(err, syscall.EPIPE) {
			err = ErrLost
		}
		return nil, fmt.Errorf("ask the keeper: %w", err)
	}
	return c, nil
}

// tell sends a message that has no answer.
func (l *Link) tell(m wire.Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conn.Write(m)
}

func doneError(d *wire.Done) error {
	if d.Error == "" {
		return nil
	}
	if err, ok := codes[d.Code]; ok {
		return fmt.Errorf("%w: %s", err, d.Error)
	}
	return errors.New(d.Error)
}
