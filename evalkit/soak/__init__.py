"""Hours of steady load: does memory leak, does it slow down, does it stay what it is?"""
