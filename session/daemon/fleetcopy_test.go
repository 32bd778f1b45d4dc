//go:build unix

package daemon

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/apitoken"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/certs"
	"github.com/longterm-dev/longterm/store/fleet/link"
	"github.com/longterm-dev/longterm/store/fleet/replica"
	"github.com/longterm-dev/longterm/store/journal"
)

// gone is a fleet member whose daemon does not exist.
func gone(t *testing.T, house *running, name string) (*certs.Identity, *link.Link) {
	t.Helper()
	dir := certs.Dir(house.dirs.Fleet())
	a, err := dir.Authority()
	if err != nil {
		t.Fatal(err)
	}
	s, err := dir.Settings()
	if err != nil {
		t.Fatal(err)
	}
	id, err := admit(dir, a, certs.Member{Name: name, Kind: certs.Host, May: apitoken.Everything.Names()})
	if err != nil {
		t.Fatal(err)
	}
	back := make(chan struct{}, 10)
	l, err := link.Open(link.Options{Identity: id, Servers: s.Servers, Log: slog.New(slog.DiscardHandler), OnConnect: func() {
		select {
		case back <- struct{}{}:
		default:
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	<-back
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for range 3000 { // the server is ready before it accepts copies
		_, err = l.JetStream().Stream(t.Context(), fleet.CopyStream)
		if err == nil {
			_, err = l.JetStream().Stream(t.Context(), fleet.CopyRecords)
		}
		if err == nil {
			return id, l
		}
		<-look.C
	}
	t.Fatal(err)
	return nil, nil
}

// TestSessionsAreCopied checks that a daemon copies its sessions' output to the fleet, and reports how far.
//
// FEATURES: R94
func TestSessionsAreCopied(t *testing.T) {
	t.Parallel()
	house := startDaemon(t, testDirs(t))
	inFleet(t, house)
	id, l := gone(t, house, "reader")
	s := get[api.Session](house, "POST", "/sessions", api.NewSession{Name: "work", Argv: []string{"/bin/sh", "-c", "echo kept for later; exec sleep 1000"}})
	shell := get[api.Session](house, "POST", "/sessions", api.NewSession{Name: "shell", Argv: []string{"bash", "--norc"}})
	await(t, "the fleet has a copy", func() bool {
		if !bytes.Equal(copied(t, id, l, s.ID), []byte("kept for later\r\n")) {
			return false
		}
		f := get[api.Fleet](house, "GET", "/fleet", nil)
		return f.CopyBehind == 0 && f.CopyError == ""
	})
	h, record, err := replica.Record(t.Context(), l.JetStream(), id.CA, "house", s.ID)
	if err != nil || h.Removed || !bytes.Contains(record, []byte(`"work"`)) {
		t.Fatalf("%+v %s %v", h, record, err)
	}
	await(t, "the nonce of a shell's marks is told, for others to hide it", func() bool {
		_, record, err := replica.Record(t.Context(), l.JetStream(), id.CA, "house", shell.ID)
		return err == nil && bytes.Contains(record, []byte(`"nonce":"`))
	})
}

// await polls until a condition holds.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for range 3000 {
		if is() {
			return
		}
		<-look.C
	}
	t.Fatal("never: ", what)
}

// copied returns the fleet's copy of a session's output.
func copied(t *testing.T, id *certs.Identity, l *link.Link, session string) (all []byte) {
	t.Helper()
	_, _ = replica.EachChunk(t.Context(), l.JetStream(), id.CA, "house", session, func(h replica.Head, body []byte) error {
		_, err := replica.Records(h.From, body, func(_ replica.Place, r *journal.Record) error {
			if r.Kind == journal.KindOutput {
				all = append(all, r.Data...)
			}
			return nil
		})
		return err
	})
	return all
}

// TestTalkativeSessionIsCopiedInTurns checks that a session that prints without end does not delay the copies of
// others.
func TestTalkativeSessionIsCopiedInTurns(t *testing.T) {
	t.Parallel()
	tier.Full(t)
	house := startDaemon(t, testDirs(t))
	inFleet(t, house)
	id, l := gone(t, house, "reader")
	loud := get[api.Session](house, "POST", "/sessions", api.NewSession{Name: "loud", Argv: []string{"yes"}})
	await(t, "the loud one is copied", func() bool {
		_, err := replica.EachChunk(t.Context(), l.JetStream(), id.CA, "house", loud.ID, func(replica.Head, []byte) error { return io.EOF })
		return errors.Is(err, io.EOF)
	})
	quiet := get[api.Session](house, "POST", "/sessions", api.NewSession{Name: "quiet", Argv: []string{"/bin/sh", "-c", "echo heard; exec sleep 1000"}})
	await(t, "the quiet one is copied", func() bool { return string(copied(t, id, l, quiet.ID)) == "heard\r\n" })
}

// TestHistoriesOfALostHost checks that a host is lost with its disk. Its replica is read on another host: missing
// output is counted, foreign records are skipped, and a repeated import does nothing twice.
//
// FEATURES: R94
func TestHistoriesOfALostHost(t *testing.T) {
	t.Parallel()
	house := startDaemon(t, testDirs(t))
	inFleet(t, house)
	id, l := gone(t, house, "lost")
	mine := get[api.Session](house, "POST", "/sessions", api.NewSession{Name: "work", Argv: []string{"/bin/sh", "-c", "exec sleep 1000"}})
	session := uuid.NewString()
	j, _, err := journal.Open(t.TempDir(), journal.Options{})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	defer j.Close()
	must(j.AppendResize(80, 24))
	must(j.AppendOutput([]byte("first\r\nlost in between\r\n")))
	publish := func(h replica.Head, body []byte) {
		t.Helper()
		h.Host, h.Session = "lost", session
		b, err := replica.Seal(id, h, body)
		must(err)
		must(replica.Publish(t.Context(), l.JetStream(), h, b))
	}
	output := func(from int, text string, end int) {
		t.Helper()
		b, err := replica.AppendRecord(nil, &journal.Record{Kind: journal.KindOutput, Time: time.Now(), Data: []byte(text)})
		must(err)
		publish(replica.Head{From: replica.Place{Offset: uint64(from)}, To: replica.Place{Offset: uint64(from + len(text))}, End: uint64(end)}, b)
	}
	output(0, "first\r\n", 7)
	output(0, "first\r\nsec", 10)
	output(20, "last\r\n", 40)
	forged := replica.Head{Host: "lost", Session: session, From: replica.Place{Offset: 26}, To: replica.Place{Offset: 27}}
	must(replica.Publish(t.Context(), l.JetStream(), forged, []byte("no copy at all")))
	rec := store.Session{ID: session, Name: "work", Argv: []string{"make"}, State: "running", Cols: 80, Rows: 24, Engine: "native", Created: time.Now(), Started: time.Now()}
	record, err := json.Marshal(map[string]any{"session": rec, "commands": []store.Command{{Session: session, N: 1, Text: "make all", State: store.CommandRunning, Started: time.Now()}}})
	must(err)
	publish(replica.Head{Record: true, End: 40}, record)

	st := get[api.Fleet](house, "POST", "/fleet", api.FleetAct{Act: "restore", Name: "lost"})
	if st.Restored == nil || len(st.Restored.Sessions) != 1 {
		t.Fatalf("%+v", st.Restored)
	}
	got := st.Restored.Sessions[0]
	if got.Error != "" || got.Bytes != 16 || got.Missing != 10 || got.Tail != 14 || got.Damaged != 1 || got.Name != "work-"+session[:8] {
		t.Errorf("%+v", got)
	}
	s := get[api.Session](house, "GET", "/sessions/"+got.Name, nil)
	if s.ID != session || s.State != "lost" || s.Labels["fleet-host"] != "lost" {
		t.Errorf("%+v", s)
	}
	if raw := house.ask("GET", "/sessions/"+session+"/output?from=0", nil); !bytes.Contains(raw.body, []byte(base64.StdEncoding.EncodeToString([]byte("first\r\nsec")))) {
		t.Errorf("%d %q", raw.status, raw.body)
	}
	if raw := house.ask("GET", "/sessions/"+session+"/output?from=10", nil); !bytes.Contains(raw.body, []byte(base64.StdEncoding.EncodeToString([]byte("last\r\n")))) ||
		!bytes.Contains(raw.body, []byte(`"gap_bytes":10`)) {
		t.Errorf("%d %q", raw.status, raw.body)
	}
	if c := house.ask("GET", "/commands?session="+session, nil); !bytes.Contains(c.body, []byte("make all")) {
		t.Errorf("%d %s", c.status, c.body)
	}
	again := get[api.Fleet](house, "POST", "/fleet", api.FleetAct{Act: "restore", Name: "lost"})
	if again.Restored.Present != 1 || len(again.Restored.Sessions) != 0 {
		t.Errorf("%+v", again.Restored)
	}
	if s := get[api.Session](house, "GET", "/sessions/work", nil); s.ID != mine.ID {
		t.Errorf("its own session is %s", s.ID)
	}
	if a := house.ask("POST", "/fleet", api.FleetAct{Act: "restore", Name: "nobody"}); a.status != http.StatusNotFound {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := house.as("bot").ask("POST", "/fleet", api.FleetAct{Act: "restore", Name: "lost"}); a.status != http.StatusForbidden {
		t.Errorf("an agent: %d %s", a.status, a.body)
	}
}

// TestLostHostIsReadInPlace checks that the replica of a lost host answers the reading requests, and marks each answer.
// Requests that would change something are rejected. Its sessions are not listed among those of the reading machine.
//
// FEATURES: R94
func TestLostHostIsReadInPlace(t *testing.T) {
	t.Parallel()
	tier.Full(t)
	const nonce = "6a124d4d1f8c7006180c72afdf0a4b6c" // of its shells' marks: no output shows it
	house := startDaemon(t, testDirs(t))
	inFleet(t, house)
	id, l := gone(t, house, "lost")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	tell := func(session, name, text string, end int) {
		t.Helper()
		publish := func(h replica.Head, body []byte) {
			t.Helper()
			h.Host, h.Session = "lost", session
			b, err := replica.Seal(id, h, body)
			must(err)
			must(replica.Publish(t.Context(), l.JetStream(), h, b))
		}
		b, err := replica.AppendRecord(nil, &journal.Record{Kind: journal.KindOutput, Time: time.Now(), Data: []byte(text)})
		must(err)
		publish(replica.Head{To: replica.Place{Offset: uint64(len(text))}, End: uint64(end)}, b)
		rec := store.Session{ID: session, Name: name, Argv: []string{"make"}, State: "running", Cols: 80, Rows: 24, Engine: "native", Created: time.Now(), Started: time.Now()}
		record, err := json.Marshal(map[string]any{"session": rec, "nonce": nonce, "commands": []store.Command{{Session: session, N: 1, Text: "make " + name, State: store.CommandRunning, Started: time.Now()}}})
		must(err)
		publish(replica.Head{Record: true, End: uint64(end)}, record)
	}
	work, other := uuid.NewString(), uuid.NewString()
	const marked = "nothing\x1b]133;A;lt=" + nonce + "\a\r\n"
	tell(work, "work", "first\r\nneedle here\r\n", 27)
	tell(other, "other", marked, len(marked))
	// A running session with one of its ids, such as one restored from the replica, is not touched by reading it.
	runs := exec.CommandContext(t.Context(), "sleep", "1000")
	runs.Env = append(os.Environ(), "LONGTERM_SESSION="+work)
	must(runs.Start())
	ended := make(chan error, 1)
	go func() { ended <- runs.Wait() }()

	local := client.New(client.Options{Dirs: house.dirs, Build: func() string { return "test" }})
	defer local.Close()
	for _, away := range []bool{true, false} { // it is known to be unreachable, or does not answer
		var said api.FleetCopy
		c := client.New(client.Options{
			Dirs: house.dirs, Build: func() string { return "test" }, Remote: &client.ViaFleet{Local: local, Host: "lost", IsUnreachable: away},
			OnReplica: func(of api.FleetCopy) { said = of },
		})
		defer c.Close()
		if st, err := c.Get(t.Context(), "/status"); err != nil || !bytes.Contains(st, []byte(`"sessions":2`)) {
			t.Errorf("away %v: %s, %v", away, st, err)
		}
		list, err := c.List(t.Context())
		must(err)
		if len(list) != 2 || list[0].State != "lost" || said.Host != "lost" || said.NotCopied != 7 || said.AsOf.IsZero() || said.LeftOut != 0 {
			t.Errorf("away %v: %+v, %+v", away, list, said)
		}
		out, err := c.Session("work").OutputAt(t.Context(), "0")
		if err != nil || string(out.Data) != "first\r\nneedle here\r\n" || said.NotCopied != 7 {
			t.Errorf("away %v: %q, %v; %+v", away, out.Data, err, said)
		}
		if out, err = c.Session(other[:6]).OutputAt(t.Context(), "0"); err != nil || string(out.Data) != strings.Replace(marked, nonce, strings.Repeat("0", len(nonce)), 1) || said.NotCopied != 0 {
			t.Errorf("away %v: %q, %v; %+v", away, out.Data, err, said)
		}
		found, err := c.Search(t.Context(), client.SearchQuery{Text: "needle", Limit: 10})
		if err != nil || len(found.Hits) != 1 || found.Hits[0].Session != work {
			t.Errorf("away %v: %+v, %v", away, found, err)
		}
		screen, err := c.Get(t.Context(), "/sessions/work/screen/text")
		if err != nil || !bytes.Contains(screen, []byte("needle here")) {
			t.Errorf("away %v: %q, %v", away, screen, err)
		}
		commands, err := c.Get(t.Context(), "/commands")
		if err != nil || !bytes.Contains(commands, []byte("make work")) || !bytes.Contains(commands, []byte("make other")) {
			t.Errorf("away %v: %s, %v", away, commands, err)
		}
		var refused *api.Error
		if _, err := c.Session("work").Type(t.Context(), api.Input{Text: "x"}); !errors.As(err, &refused) ||
			refused.Code != api.CodeUnavailable || !strings.Contains(refused.Message, "read-only") || refused.Retry ||
			!strings.Contains(refused.Hint, "`longterm output lost/work`") || !strings.Contains(refused.Hint, "`longterm fleet restore lost`") {
			t.Errorf("typing: %v", err)
		}
		if _, err := c.Session("none").Info(t.Context()); !errors.As(err, &refused) || refused.Code != api.CodeNotFound {
			t.Errorf("a missing session: %v", err)
		}
	}
	if a := house.ask("GET", "/sessions", nil); bytes.Contains(a.body, []byte(work)) {
		t.Errorf("it is a session of this machine: %s", a.body)
	}
	select {
	case err := <-ended:
		t.Errorf("reading a copy ended a process: %v", err)
	default:
	}
	never := client.New(client.Options{Dirs: house.dirs, Build: func() string { return "test" }, Remote: &client.ViaFleet{Local: local, Host: "never", IsUnreachable: true}})
	defer never.Close()
	var refused *api.Error
	if _, err := never.List(t.Context()); !errors.As(err, &refused) || refused.Code != api.CodeUnavailable || !strings.Contains(refused.Message, "no copies") {
		t.Errorf("a host without a replica: %v", err)
	}
}

// TestFormerMachineOfAName checks that a new machine takes the name of a lost one. The replica of the former one's
// sessions stays, and can be restored while the new one is connected; the new one's sessions are not touched.
//
// FEATURES: R94
func TestFormerMachineOfAName(t *testing.T) {
	t.Parallel()
	house := startDaemon(t, testDirs(t))
	inFleet(t, house)
	former, l := gone(t, house, "other")
	session := uuid.NewString()
	tell := func(id *certs.Identity, l *link.Link, session, name, text string) {
		t.Helper()
		publish := func(h replica.Head, body []byte) {
			t.Helper()
			h.Host, h.Session = "other", session
			b, err := replica.Seal(id, h, body)
			if err == nil {
				err = replica.Publish(t.Context(), l.JetStream(), h, b)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		b, err := replica.AppendRecord(nil, &journal.Record{Kind: journal.KindOutput, Time: time.Now(), Data: []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		publish(replica.Head{To: replica.Place{Offset: uint64(len(text))}, End: uint64(len(text))}, b)
		rec := store.Session{ID: session, Name: name, Argv: []string{"make"}, State: "running", Cols: 80, Rows: 24, Engine: "native", Created: time.Now(), Started: time.Now()}
		record, err := json.Marshal(map[string]any{"session": rec})
		if err != nil {
			t.Fatal(err)
		}
		publish(replica.Head{Record: true, End: uint64(len(text))}, record)
	}
	tell(former, l, session, "work", "precious\r\n")
	l.Close()
	if a := house.ask("POST", "/fleet", api.FleetAct{Act: "revoke", Name: "other"}); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}

	anew := startDaemon(t, testDirs(t))
	settings, err := certs.Dir(house.dirs.Fleet()).Settings()
	if err != nil {
		t.Fatal(err)
	}
	a, err := certs.Dir(house.dirs.Fleet()).Authority()
	if err != nil {
		t.Fatal(err)
	}
	id, err := admit(certs.Dir(house.dirs.Fleet()), a, certs.Member{Name: "other", Kind: certs.Host, May: apitoken.Everything.Names()})
	if err != nil {
		t.Fatal(err)
	}
	dir := certs.Dir(anew.dirs.Fleet())
	if err := errors.Join(dir.SaveIdentity(id), dir.SaveSettings(certs.Settings{Servers: settings.Servers})); err != nil {
		t.Fatal(err)
	}
	if a := anew.ask("POST", "/fleet", api.FleetAct{Act: "reload"}); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	own := get[api.Session](anew, "POST", "/sessions", api.NewSession{Name: "own", Argv: []string{"/bin/sh", "-c", "echo mine; exec sleep 1000"}})
	await(t, "the new machine says whose copies there are", func() bool { return get[api.Fleet](anew, "GET", "/fleet", nil).Former == 1 })
	if a := anew.ask("POST", "/sessions/work/input", api.Input{Text: "x"}); a.status != http.StatusNotFound || !bytes.Contains(a.body, []byte("longterm fleet restore other")) {
		t.Errorf("the former machine's session: %d %s", a.status, a.body)
	}
	await(t, "its own session is copied", func() bool {
		st := get[api.Fleet](anew, "GET", "/fleet", nil)
		return st.Connected && st.CopyBehind == 0 && st.CopyError == ""
	})
	await(t, "the house sees it", func() bool {
		list := get[[]api.FleetHost](house, "GET", "/fleet/hosts?host=other", nil)
		return len(list) == 1 && list[0].State == "connected"
	})
	for _, r := range []*running{house, anew} { // it is restored on any machine, on that of the name, too
		st := get[api.Fleet](r, "POST", "/fleet", api.FleetAct{Act: "restore", Name: "other"})
		if st.Restored == nil || len(st.Restored.Sessions) != 1 || st.Restored.Sessions[0].ID != session || st.Restored.Sessions[0].Error != "" {
			t.Fatalf("%+v", st.Restored)
		}
		if raw := r.ask("GET", "/sessions/"+session+"/output?from=0", nil); !bytes.Contains(raw.body, []byte(base64.StdEncoding.EncodeToString([]byte("precious\r\n")))) {
			t.Errorf("%d %q", raw.status, raw.body)
		}
	}
	if a := house.ask("GET", "/sessions/"+own.ID, nil); a.status != http.StatusNotFound {
		t.Errorf("the new machine's own session: %d %s", a.status, a.body)
	}
}
