//go:build unix

package fleet

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"
	natsclient "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/store/fleet"
	"github.com/longterm-dev/longterm/store/fleet/certs"
)

// natsConfig is the variable that makes this binary run as a plain NATS server with a configuration file, without
// fleets.
const natsConfig = "LONGTERM_TEST_NATS"

// serveNATS runs a NATS server that prints its address and ends with its standard input.
func serveNATS(config string) (status int) {
	o, err := nats.ProcessConfigFile(config)
	if err == nil {
		o.Host, o.NoSigs = "127.0.0.1", true
		if o.Port == 0 {
			o.Port = nats.RANDOM_PORT
		}
		var s *nats.Server
		if s, err = nats.NewServer(o); err == nil {
			s.Start()
			defer s.Shutdown()
			if s.ReadyForConnections(time.Minute) {
				fmt.Println(s.Addr())
				_, _ = io.Copy(io.Discard, os.Stdin)
				return 0
			}
		}
	}
	fmt.Fprintln(os.Stderr, "nats:", err)
	return 1
}

// startNATS starts a server in a separate process, with JetStream, and returns its address.
func startNATS(t *testing.T, config string) (addr string) {
	t.Helper()
	n := newNATS(t, config)
	n.start()
	return n.listens()
}

// natsNode is one that can be killed and started again.
type natsNode struct {
	t    *testing.T
	file string
	cmd  *exec.Cmd
	out  *bufio.Reader
}

func newNATS(t *testing.T, config string) *natsNode {
	t.Helper()
	dir := t.TempDir()
	n := &natsNode{t: t, file: filepath.Join(dir, "nats.conf")}
	// Less space than replicas of output may take: they get the available space, with as many replicas.
	if err := os.WriteFile(n.file, []byte(config+"\njetstream { store_dir: "+dir+"/kept, max_file_store: 3GB }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return n
}

func (n *natsNode) start() {
	n.t.Helper()
	self, err := os.Executable()
	if err != nil {
		n.t.Fatal(err)
	}
	n.cmd = exec.Command(self)
	n.cmd.Env, n.cmd.Stderr = append(os.Environ(), natsConfig+"="+n.file), os.Stderr
	in, err := n.cmd.StdinPipe()
	if err != nil {
		n.t.Fatal(err)
	}
	out, err := n.cmd.StdoutPipe()
	if err == nil {
		err = n.cmd.Start()
	}
	if err != nil {
		n.t.Fatal(err)
	}
	n.out = bufio.NewReader(out)
	cmd := n.cmd
	n.t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
}

func (n *natsNode) listens() (addr string) {
	n.t.Helper()
	line, err := n.out.ReadString('\n')
	if err != nil {
		n.t.Fatalf("the NATS did not start: %v", err)
	}
	return strings.TrimSpace(line)
}

// tlsOf returns a self-signed certificate for 127.0.0.1, as a part of a configuration, and the file of its authority.
func tlsOf(t *testing.T) (config, ca string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ca, private := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{ca: {Type: "CERTIFICATE", Bytes: der}, private: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return fmt.Sprintf("tls { cert_file: %q, key_file: %q }", ca, private), ca
}

// userOf returns a user with the permissions that docs/fleet.md requires for a host.
func userOf(host string) string {
	return fmt.Sprintf(`{ user: %[1]s, password: secret-%[1]s, permissions: {
	publish: [ "lt.>", "$JS.API.>", "$KV.LT_REGISTRY.>", "$JS.FC.>" ], allow_responses: { max: 1, expires: "10s" },
	subscribe: [ "lt.>", "_INBOX_JOIN.>", "_INBOX_%[1]s.>" ] } }`, host)
}

// TestExistingNATS uses an existing NATS as a fleet's server: with a user and password over TLS with a private CA and
// minimal rights; with an NKey seed; and with credentials of an account with little storage.
//
// FEATURES: R94, R115
func TestExistingNATS(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	tls, ca := tlsOf(t)
	type as struct{ user, creds, ca string }
	for _, c := range []struct {
		name, config string
		one, two     as
		wrong        []string // ways to join that must fail
	}{
		{"password", tls + "\nauthorization { users: [ " + userOf("one") + ", " + userOf("two") + " ] }", as{user: "one:secret-one@", ca: ca}, as{user: "two:secret-two@", ca: ca}, []string{"--tls-ca", ca}},
		{"nkey", "include " + relative(t, testdata+"/nkeys.conf"), as{creds: testdata + "/user.nk"}, as{creds: testdata + "/user.nk"}, []string{"--creds", testdata + "/user.creds"}},
		{"account", "include " + relative(t, testdata+"/accounts.conf"), as{creds: testdata + "/user.creds"}, as{creds: testdata + "/user.creds"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			addr := startNATS(t, c.config)
			args := func(a as, args ...string) []string {
				if a.user != "" {
					args = append(args, "--nats", "nats://"+a.user+addr)
				}
				if a.creds != "" {
					args = append(args, "--creds", a.creds)
				}
				if a.ca != "" {
					args = append(args, "--tls-ca", a.ca)
				}
				return args
			}
			one, two := e2e.New(t), e2e.New(t)
			init := []string{"fleet", "init", "team", "--name", "one"}
			if c.one.user == "" {
				init = append(init, "--nats", "nats://"+addr)
			}
			one.Run(args(c.one, init...)...)
			connected(t, one, 1)
			if _, stderr, code := one.Try("fleet", "serve"); code == 0 || !strings.Contains(stderr, "as its server") {
				t.Errorf("another server: %d, %s", code, stderr)
			}
			text := strings.TrimSpace(one.Run("fleet", "invite"))
			if code, err := certs.ParseCode(text); err != nil || len(code.Servers) != 1 || code.Servers[0] != "nats://"+addr {
				t.Errorf("the code: %+v, %v", code, err)
			}
			if c.wrong != nil {
				if _, stderr, code := two.Try(append([]string{"fleet", "join", text, "--name", "two"}, c.wrong...)...); code != 5 || !strings.Contains(stderr, "does not let this machine in") {
					t.Errorf("without the right credentials: %d, %s", code, stderr)
				}
			}
			two.Run(args(c.two, "fleet", "join", text, "--name", "two")...)
			connected(t, one, 2)
			if st := two.Run("fleet", "status", "--json"); strings.Contains(st, "secret") {
				t.Errorf("the status shows the password: %s", st)
			}
			two.Run("new", "-n", "work", "--", "sh", "-c", "echo needle; exec cat")
			e2e.Eventually(t, "the session is listed", func() bool { return strings.Contains(one.Run("fleet", "ls"), "two/work") })
			one.Run("wait", "two/work", "--for", "text=needle")
			one.Run("send", "two/work", "typed", "-e")
			two.Run("wait", "work", "--for", "text=typed")
			e2e.Eventually(t, "all output is replicated", func() bool {
				st := e2e.Decode[api.Fleet](t, two.Run("fleet", "status", "--json"))
				return st.CopyBehind == 0 && st.CopyError == "" && st.Error == ""
			})
			e2e.Eventually(t, "the completion is published", func() bool {
				one.Run("fleet", "events", "reader")
				two.Run("run", "--", "true")
				return strings.Contains(one.Run("fleet", "events", "reader"), "two")
			})
			one.Run("fleet", "revoke", "two")
			e2e.Eventually(t, "the revoked machine reports the revocation", func() bool { return strings.Contains(two.Run("fleet", "status"), "was revoked") })
			if _, stderr, code := two.Try("-H", "one", "ls"); code == 0 || !strings.Contains(stderr, "was revoked") {
				t.Errorf("a revoked host reaches another: %d, %s", code, stderr)
			}
		})
	}
}

// TestExistingCluster uses an existing NATS cluster of three servers. Data has three replicas, and the fleet continues
// when a machine's server is killed and comes back.
//
// FEATURES: R94
func TestExistingCluster(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	var nodes []*natsNode
	var listen, routes []string
	for range 3 {
		listen, routes = append(listen, port(t)), append(routes, "nats://"+port(t))
	}
	users := "authorization { users: [ " + userOf("one") + ", " + userOf("two") + " ] }"
	for i := range listen {
		n := newNATS(t, fmt.Sprintf("server_name: n%d\nlisten: %q\n%s\ncluster { name: theirs, listen: %q, routes: [ %s ] }",
			i, listen[i], users, strings.TrimPrefix(routes[i], "nats://"), strings.Join(routes, ", ")))
		n.start()
		nodes = append(nodes, n)
	}
	for i, n := range nodes {
		if at := n.listens(); at != listen[i] {
			t.Fatalf("it listens at %s", at)
		}
	}
	at := func(user string) (flags []string) {
		for _, addr := range listen {
			flags = append(flags, "--nats", "nats://"+user+":secret-"+user+"@"+addr)
		}
		return flags
	}
	p := pair{t, e2e.New(t), e2e.New(t)}
	within(t, "the cluster has a leader, and the fleet is made", func() bool {
		_, _, code := p.one.Try(append([]string{"fleet", "init", "team", "--name", "one"}, at("one")...)...)
		return code == 0
	})
	within(t, "the first host is connected", func() bool { return hostsConnected(p.one) == 1 })
	text := strings.TrimSpace(p.one.Run("fleet", "invite"))
	if code, err := certs.ParseCode(text); err != nil || len(code.Servers) != len(listen) || strings.Contains(strings.Join(code.Servers, " "), "secret") {
		t.Errorf("the code: %+v, %v", code, err)
	}
	p.two.Run(append([]string{"fleet", "join", text, "--name", "two"}, at("two")...)...)
	within(t, "both hosts are connected", func() bool { return hostsConnected(p.one) == 2 })
	p.keptThrice(listen[0])
	p.two.Run("new", "-n", "work", "--", "sh", "-c", "n=0; while :; do n=$((n+1)); echo line $n of needles; sleep 0.02; done")
	for round := range 2 {
		st := e2e.Decode[api.Fleet](t, p.two.Run("fleet", "status", "--json"))
		used := slices.IndexFunc(listen, func(addr string) bool { return strings.Contains(st.Server, addr) })
		if used < 0 {
			t.Fatalf("none of %v is used: %+v", listen, st)
		}
		_ = nodes[used].cmd.Process.Kill()
		p.goesOn(fmt.Sprint("after-", round))
		nodes[used].start()
		nodes[used].listens()
	}
}

// keptThrice checks that the fleet's data has three replicas.
func (p pair) keptThrice(addr string) {
	p.t.Helper()
	nc, err := natsclient.Connect("nats://one:secret-one@"+addr, natsclient.CustomInboxPrefix("_INBOX_one"))
	if err != nil {
		p.t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, name := range []string{"KV_" + fleet.Bucket, fleet.Stream, fleet.CopyStream, fleet.CopyRecords} {
		s, err := js.Stream(p.t.Context(), name)
		if err != nil || s.CachedInfo().Config.Replicas != 3 {
			p.t.Errorf("%s: %v, not three replicas", name, err)
		}
	}
}

// relative is a file as a configuration in another directory includes it: from there.
func relative(t *testing.T, file string) string {
	t.Helper()
	rel, err := filepath.Rel(t.TempDir(), file)
	if err != nil {
		t.Fatal(err)
	}
	return rel
}
