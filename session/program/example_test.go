//go:build unix

package program_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/longterm-dev/longterm/session/program"
)

// A program is started, its prompt answered, and its end awaited.
func ExampleStart() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p, err := program.Start(ctx, program.Cmd{Line: `printf 'Name: '; read -r n; echo "Hello, $n."; exit 3`})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	if _, err := p.Expect(ctx, program.Text("Name: ")); err != nil {
		fmt.Println(err)
		return
	}
	if err := p.Send("Bob\r"); err != nil {
		fmt.Println(err)
		return
	}
	m, err := p.Expect(ctx, program.Regexp(`Hello, (?P<who>\w+)`))
	if err != nil {
		fmt.Println(err)
		return
	}
	exit, err := p.Wait(ctx)
	fmt.Println(m.NamedGroups["who"], exit.Code, err)
	screen := p.Screen()
	fmt.Print(screen.Text())
	// Output:
	// Bob 3 <nil>
	// Name: Bob
	// Hello, Bob.
}

// Several patterns are awaited at once; the program's end is one of them.
func ExampleProgram_Expect() {
	ctx := context.Background()
	p, err := program.Start(ctx, program.Cmd{Line: "echo working; exit 1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	m, err := p.Expect(ctx, program.Text("done"), program.Ended)
	fmt.Println(m.Pattern, err)
	// Output: 1 <nil>
}

// A secret is not typed if it would be shown.
func ExampleProgram_Secret() {
	ctx := context.Background()
	p, err := program.Start(ctx, program.Cmd{Line: "printf 'Password: '; read -r x"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	err = p.Secret(ctx, []byte("hunter2"))
	fmt.Println(errors.Is(err, program.ErrEchoed))
	// Output: true
}

// A shell's commands run one by one, each with its output and exit status.
func ExampleProgram_Exec() {
	ctx := context.Background()
	p, err := program.Start(ctx, program.Cmd{Argv: []string{"sh"}, Shell: true, Dir: "/"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	for _, line := range []string{"cd /usr && pwd", "false"} {
		r, err := p.Exec(ctx, line)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%q exited with %d\n", r.Output, *r.Exit)
	}
	// Output:
	// "/usr\n" exited with 0
	// "" exited with 1
}

// A function is the program: no process, no PTY. In a testing/synctest bubble it uses the bubble's time.
func ExampleTerminal() {
	ctx := context.Background()
	p, err := program.Start(ctx, program.Cmd{Main: func(tty *program.Terminal) int {
		in := bufio.NewReader(tty)
		fmt.Fprint(tty, "Name: ")
		name, _ := in.ReadString('\n')
		fmt.Fprintf(tty, "Hello, %s", name)
		return 0
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	_, err = p.Expect(ctx, program.Text("Name: "))
	fmt.Println(err, p.Send("Ann\r"))
	_, err = p.Expect(ctx, program.Text("Hello, Ann"))
	fmt.Println(err)
	// Output:
	// <nil> <nil>
	// <nil>
}
