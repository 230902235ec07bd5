import argparse

import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Dense
from tensorflow.keras.optimizers import Adam

def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument('--lr', type=float, default=0.5, help='learning rate')
    parser.add_argument('--batch-size', type=int, default=8)
    parser.add_argument('--hidden', '-n', type=int, default=20)
    parser.add_argument('--act', default='relu')
    parser.add_argument('--epochs', type=int, default=4)
    return parser.parse_args()

def main(args):
    model = Sequential()
    model.add(Dense(args.hidden, activation=args.act, input_dim=3))
    model.add(Dense(args.hidden // 2, activation=args.act))
    model.add(Dense(1))
    model.compile(loss='mse', optimizer=Adam(learning_rate=args.lr))
    model.fit(np.zeros((20, 3)), np.zeros((20, 1)), epochs=args.epochs, batch_size=args.batch_size)

if __name__ == '__main__':
    main(get_args())
