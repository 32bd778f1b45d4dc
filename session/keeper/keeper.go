//go:build unix

package keeper

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/internal/idlepoll"
	"github.com/longterm-dev/longterm/session/internal/memrelease"
	"github.com/longterm-dev/longterm/session/keeper/launch"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/sys/dirwatch"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
)

// Config holds the settings of a keeper.
type Config struct {
	Socket string // path of the Unix socket to serve
	Lock   string // path of the lock file that makes this key's keeper the only one
	// StateLock is a second lock, in the state directory, which outlives the runtime directory; empty: none.
	StateLock string
	Key       string // placement key
	Build     string // version of the binary, for status
	Log       *slog.Logger
	// Daemon is the argv of the daemon to keep running, started from this process's own executable. Empty for keepers
	// of isolated sessions.
	Daemon []string
	// DaemonRuns states that a daemon already runs and will connect: it started this keeper to replace a killed one.
	DaemonRuns bool
	// OpenPTY opens terminals; nil: the system's. Tests use it to have none.
	OpenPTY func() (master, slave *os.File, err error)
	// Poller sets the poll intervals; nil: a new one.
	Poller *idlepoll.Poller
	// Ready, if not nil, receives "ok\n" once the socket is served, or the error, and is closed.
	Ready *os.File
	// Handoff, if not nil, is the state of the previous execution (see upgrade.go).
	Handoff *os.File
}

// Keeper is a running keeper.
type Keeper struct {
	cfg       Config
	log       *slog.Logger
	listener  *unixsock.Listener // written with mu held
	lock      *os.File           // likewise
	started   time.Time
	execCount uint64 // number of executions of this process, as upgrades add one

	// Used by Run's goroutine only, as are writes to listener and locks:
	stateLock  *os.File           // nil: not acquired; written with mu held
	socket     os.FileInfo        // the socket file that we created
	checkError string             // last logged error
	checks     int                // number of checks, for parking idle streams
	files      *dirwatch.Watcher  // nil: the files are checked every second
	movedState launch.MoveTracker // whether the state directory was moved

	cgroups  cgroups
	freezeMu sync.RWMutex // held for writing during an upgrade
	spawnMu  sync.Mutex   // held during a fork, and while processes are reaped
	parker   epollParker
	poller   *idlepoll.Poller
	shimMu   sync.RWMutex // held for reading while a shim prepares itself, for writing across a re-execution

	mu         sync.Mutex
	children   map[string]*child // sessions by id
	conns      map[*conn]struct{}
	supervisor supervisor
	helpers    map[int]func(syscall.WaitStatus) // by pid
	// listeners receive executions. They outlive their session while one of its processes lives.
	listeners  map[sessionRun]*listener
	newestRun  uint64 // number of the newest run
	rejections rejections

	stop chan error // receives the reason to end; nil is a clean end
}

const (
	// releaseInterval is how often unneeded memory is released. While idle it is releaseDelay after all other work.
	releaseInterval, releaseDelay = 5 * time.Second, time.Second / 4
)

// Run serves until it is asked to end. It is the whole life of a keeper process.
func Run(cfg Config) error {
	k := &Keeper{
		cfg:       cfg,
		log:       cfg.Log,
		poller:    cmp.Or(cfg.Poller, new(idlepoll.Poller)),
		started:   time.Now(),
		execCount: 1,
		children:  map[string]*child{},
		conns:     map[*conn]struct{}{},
		helpers:   map[int]func(syscall.WaitStatus){},

		listeners: map[sessionRun]*listener{},
		stop:      make(chan error, 1),
	}
	if err := k.restoreOrStart(); err != nil {
		k.reportReady(err)
		return err
	}
	defer k.removeFiles()

	chld := make(chan os.Signal, 1)
	signal.Notify(chld, syscall.SIGCHLD)
	term := make(chan os.Signal, 1)
	// Caught and dropped, not ignored: an ignored signal would stay ignored in children.
	hup := make(chan os.Signal, 1)
	signal.Notify(hup, caughtSignals...)
	signal.Notify(term, syscall.SIGTERM)

	go k.accept(k.listener)
	look, calmly := k.poller.Ticker(launch.WatchInterval), k.poller.LateTicker(releaseInterval, releaseDelay)
	defer look.Stop()
	defer calmly.Stop()
	defer k.watchFiles()()
	k.reap() // processes that ended between two executions
	k.reportReady(nil)
	k.startFirstDaemon()
	time.AfterFunc(firstClientTimeout, k.endIfIdle)
	var memory memrelease.Memory
	var pages memrelease.Pages
	for {
		select {
		case <-chld:
			k.poller.NoteActivity()
			k.reap()
		case <-hup:
		case <-look.C():
			look.Next()
			k.restoreFiles()
			k.pruneExited()
			k.resumeStopped()
			k.reportRejections()
			k.parkIdleStreams()
		case <-calmly.C():
			calmly.Next()
			rests := k.poller.IsIdle()
			if given := memory.MaybeRelease(rests); pages.IsDue(sys.PageFaults(), given || rests) {
				sys.ReleaseOwnPages()
			}
		case <-term:
			k.log.Warn("keeper ends on SIGTERM; its sessions end with it")
			return nil
		case err := <-k.stop:
			return err
		}
	}
}

// startFirstDaemon starts the daemon, unless a running one is about to connect.
func (k *Keeper) startFirstDaemon() {
	switch {
	case len(k.cfg.Daemon) == 0:
	case k.cfg.DaemonRuns || k.cfg.Handoff != nil:
		time.AfterFunc(reconnectTimeout, func() { k.wantDaemon(nil) })
	default:
		k.wantDaemon(nil)
	}
}

// restoreOrStart continues an earlier execution, or starts fresh.
func (k *Keeper) restoreOrStart() error {
	if err := becomeSubreaper(); err != nil {
		k.log.Warn("orphans of sessions will not be reaped here", "err", err)
	}
	k.dropInheritedState()
	if k.cfg.Handoff != nil {
		return k.restoreHandoff(k.cfg.Handoff)
	}
	if err := moveToOwnScope(); err != nil {
		k.log.Info("no separate systemd scope", "why", err)
	}
	k.cgroups.setUp(k.log)
	if err := k.lockAll(); err != nil {
		return err
	}
	return k.listen()
}

// reportReady reports on Config.Ready that the keeper serves, or its error.
func (k *Keeper) reportReady(err error) {
	if k.cfg.Ready == nil {
		return
	}
	msg := "ok\n"
	if err != nil {
		msg = err.Error() + "\n"
	}
	_, _ = k.cfg.Ready.WriteString(msg)
	_ = k.cfg.Ready.Close()
	k.cfg.Ready = nil
}

// removeFiles removes the socket and the locks while these are still held, so that they cannot be a successor's.
func (k *Keeper) removeFiles() {
	_ = os.Remove(k.cfg.Socket)
	_ = k.listener.Close()
	if k.stateLock != nil {
		_ = os.Remove(k.cfg.StateLock)
		_ = k.stateLock.Close()
	}
	if launch.IsSameFile(k.lock, k.cfg.Lock) {
		_ = os.Remove(k.cfg.Lock)
	}
	_ = k.lock.Close()
	k.cgroups.close()
}

// requestEnd makes Run return.
func (k *Keeper) requestEnd(err error) {
	select {
	case k.stop <- err:
	default:
	}
}

// checkPeer accepts only our own user and root, with any mode of the socket. It returns the peer.
func checkPeer(c syscall.Conn) (uid, pid int, err error) {
	uid, pid, err = sys.PeerOf(c)
	if own := os.Getuid(); err == nil && uid != own && uid != 0 {
		err = fmt.Errorf("peer of uid %d, this keeper belongs to uid %d", uid, own)
	}
	return uid, pid, err
}
