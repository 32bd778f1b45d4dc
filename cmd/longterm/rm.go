//go:build unix

package main

import "github.com/spf13/cobra"

func removeCommand(a *app) *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use: "rm S…", Short: "Forget sessions and their history", Args: cobra.MinimumNArgs(1), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, ref := range args {
				s, err := a.session(ref)
				if err != nil {
					return err
				}
				if err := s.Remove(cmd.Context(), force); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVarP(&force, "force", "f", false, "end a session that runs")
	return c
}
