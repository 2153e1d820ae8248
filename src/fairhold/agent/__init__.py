"""The program that runs tasks on a host; standard library only, and nothing of the rest of Fairhold."""
