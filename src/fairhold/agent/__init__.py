"""The program that runs tasks on a host; it uses the standard library only, and no other package of Fairhold."""
